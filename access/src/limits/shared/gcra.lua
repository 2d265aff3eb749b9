-- One caller's request against what they may ask: GCRA and the day's count, in one step that nothing comes between.
--
-- KEYS     whose tallies: the caller's own, then those of the networks around
-- ARGV     1 requests a second, 2 burst, 3 requests a day (0: no limit), 4 whether the request is taken (1) or only looked
--          at (0), or minus how many are taken of which none is refused, 5 the moment in microseconds since 1970 (empty: this server's time), 6 the market's day as the caller's
--          clock has it, 7 to 9 when that day and the next two begin, from 10 how many times the limit each tally has
-- Answers  outcome (0 allowed, 1 too fast, 2 too many today), microseconds to wait, how many more may come at once,
--          microseconds until everything is paid, requests of today, microseconds that are left of today
--
-- What is owed is kept in millionths of a request, which one microsecond pays `rate` of: whole numbers, exact in doubles.
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

-- What of one tally is kept, and what the request comes to by it alone.
local function judged(key, times)
  local tally = { key = key, rate = rate * times, outcome = 0, wait = 0, owed = 0, taken = 0 }
  tally.full = burst * times * REQUEST
  local kept = redis.call('HMGET', key, 'at', 'owed', 'rate', 'day', 'taken')
  -- What was owed at another rate was owed under another limit.
  if kept[1] and tonumber(kept[3]) == tally.rate then
    tally.owed = math.max(0, tonumber(kept[2]) - (now - tonumber(kept[1])) * tally.rate)
    -- More than anybody can owe was noted before the clock was set back.
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

-- A whole burst can be owed, and as much for what requests that were let in cost besides.
local function take(tally, requests)
  tally.owed, tally.taken = math.min(tally.owed + requests * REQUEST, 2 * tally.full), tally.taken + requests
  redis.call('HSET', tally.key, 'at', string.format('%.0f', now), 'owed', string.format('%.0f', tally.owed),
    'rate', tally.rate, 'day', day, 'taken', tally.taken)
  -- Some seconds later than it says nothing any more, for clocks that are set back.
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
