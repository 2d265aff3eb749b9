-- Decides one caller's request by the generic cell rate algorithm (GCRA) and the daily count, in one atomic step.
--
-- KEYS     counters: the caller's own, then those of the networks around the caller
-- ARGV     1      requests a second
--          2      burst
--          3      requests a day (0: no limit)
--          4      1: count the request; 0: only read; -n: charge n requests, none of which is refused
--          5      time in microseconds since 1970 (empty: the time of this server)
--          6      the market's day by the caller's clock
--          7 to 9 start of that day and of the next two
--          10 on  the limit of each counter, as a multiple
-- Returns  outcome (0 allowed, 1 too fast, 2 too many today), microseconds to wait, number of requests possible at once,
--          microseconds until nothing is owed, requests of today, microseconds left of today
--
-- Debts are kept in millionths of a request, and each microsecond pays `rate` of them. All numbers are whole, so doubles
-- are exact.
local REQUEST = 1000000

local rate, burst, per_day = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local takes, owes = ARGV[4] == '1', math.max(0, -tonumber(ARGV[4]))
local now
if ARGV[5] == '' then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
else
  now = tonumber(ARGV[5])
end
-- The callers' clocks and this one may show different days around midnight: this one decides.
local day, ends = tonumber(ARGV[6]) - 1, tonumber(ARGV[7])
for later = 8, 9 do
  if now >= ends then
    day, ends = day + 1, tonumber(ARGV[later])
  end
end
local day_left = math.max(1, ends - now)

-- Returns one counter, and the outcome of the request by this counter alone.
local function judged(key, times)
  local tally = { key = key, rate = rate * times, outcome = 0, wait = 0, owed = 0, taken = 0 }
  tally.full = burst * times * REQUEST
  local kept = redis.call('HMGET', key, 'at', 'owed', 'rate', 'day', 'taken')
  -- A debt at another rate belongs to another limit.
  if kept[1] and tonumber(kept[3]) == tally.rate then
    tally.owed = math.max(0, tonumber(kept[2]) - (now - tonumber(kept[1])) * tally.rate)
    -- A larger debt than possible was recorded before the clock was set back.
    if tally.owed > 2 * tally.full then
      tally.owed = 0
    end
  end
  if kept[4] and tonumber(kept[4]) == day then
    tally.taken = tonumber(kept[5])
  end
  if per_day > 0 and tally.taken >= per_day * times then
    tally.outcome, tally.wait = 2, day_left
  elseif tally.owed + REQUEST > tally.full then
    tally.outcome, tally.wait = 1, math.ceil((tally.owed + REQUEST - tally.full) / tally.rate)
  end
  return tally
end

-- A debt is at most one burst, and one more for admitted requests that cost more than one request.
local function take(tally, requests)
  tally.owed, tally.taken = math.min(tally.owed + requests * REQUEST, 2 * tally.full), tally.taken + requests
  redis.call('HSET', tally.key, 'at', string.format('%.0f', now), 'owed', string.format('%.0f', tally.owed),
    'rate', tally.rate, 'day', day, 'taken', tally.taken)
  -- The counter has no effect after this time. Some seconds are added for clocks that are set back.
  local forgotten = math.ceil(tally.owed / tally.rate / 1000)
  if per_day > 0 then
    forgotten = math.max(forgotten, math.ceil(day_left / 1000))
  end
  redis.call('PEXPIRE', tally.key, string.format('%.0f', forgotten + 10000))
end

local tallies = {}
for place, key in ipairs(KEYS) do
  tallies[place] = judged(key, tonumber(ARGV[9 + place]))
end
local own = tallies[1]
if owes > 0 then
  for _, tally in ipairs(tallies) do
    take(tally, owes)
  end
  return { 0, 0, 0, 0, own.taken, day_left }
end
for place = 2, #tallies do
  local around = tallies[place]
  if around.outcome > 0 then
    local taken = around.outcome == 2 and per_day or own.taken
    return { around.outcome, around.wait, 0, math.ceil(around.owed / around.rate), taken, day_left }
  end
end
if own.outcome == 0 and takes then
  for _, tally in ipairs(tallies) do
    take(tally, 1)
  end
end
return { own.outcome, own.wait, math.max(0, math.floor((own.full - own.owed) / REQUEST)), math.ceil(own.owed / own.rate), own.taken,
  day_left }
