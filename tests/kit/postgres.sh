# Runs a throw-away PostgreSQL server of the programs in $1, with its files in $2, until its standard input ends.
set -e
bin=$1 folder=$2
"$bin/initdb" -D "$folder/data" -U haat -A trust -E UTF8 --no-locale --no-sync >"$folder/initdb.log"
"$bin/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c max_connections=200 -c fsync=off >"$folder/server.log" 2>&1 &
server=$!
trap 'kill -INT $server; wait $server || true; rm -rf "$folder"' EXIT
read -r _ || true
