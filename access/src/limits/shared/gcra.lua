-- One caller's request against what they may ask: GCRA and the day's count, in one step that nothing comes between.
--
-- KEYS[1]  whose tally
-- ARGV     1 requests a second, 2 burst, 3 requests a day (0: no limit), 4 whether the request is taken (1) or only looked
--          at (0), 5 the moment in microseconds since 1970 (empty: this server's time), 6 the market's day as the caller's
--          clock has it, 7 to 9 when that day and the next two begin
-- Answers  outcome (0 allowed, 1 too fast, 2 too many today), microseconds to wait, how many more may come at once,
--          microseconds until everything is paid, requests of today, microseconds that are left of today
--
-- What is owed is kept in millionths of a request, which one microsecond pays `rate` of: whole numbers, exact in doubles.
local REQUEST = 1000000

local rate, burst, per_day = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local takes = ARGV[4] == '1'
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

local full = burst * REQUEST
local kept = redis.call('HMGET', KEYS[1], 'at', 'owed', 'rate', 'day', 'taken')
local owed, taken = 0, 0
-- What was owed at another rate was owed under another limit.
if kept[1] and tonumber(kept[3]) == rate then
  owed = math.max(0, tonumber(kept[2]) - (now - tonumber(kept[1])) * rate)
  -- More than anybody can owe was noted before the clock was set back.
  if owed > full then
    owed = 0
  end
end
if kept[4] and tonumber(kept[4]) == day then
  taken = tonumber(kept[5])
end

local outcome, wait = 0, 0
if per_day > 0 and taken >= per_day then
  outcome, wait = 2, day_left
elseif owed + REQUEST > full then
  outcome, wait = 1, math.ceil((owed + REQUEST - full) / rate)
elseif takes then
  owed, taken = owed + REQUEST, taken + 1
  redis.call('HSET', KEYS[1], 'at', string.format('%.0f', now), 'owed', string.format('%.0f', owed),
    'rate', rate, 'day', day, 'taken', taken)
  -- Some seconds later than it says nothing any more, for clocks that are set back.
  local forgotten = math.ceil(owed / rate / 1000)
  if per_day > 0 then
    forgotten = math.max(forgotten, math.ceil(day_left / 1000))
  end
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', forgotten + 10000))
end
return { outcome, wait, math.floor((full - owed) / REQUEST), math.ceil(owed / rate), taken, day_left }
