-- What is due when, and who runs it. Moments are microseconds since 1970.
-- `accounted_to`: every moment of the schedule up to this one was run, or is told by a run that stands for it.
-- `lease` names the run that is at work; `beat` is counted up as long as it lives. No other clock decides about it.
-- `retry_at`: when the last run is to be tried again; `attempt`: how often it was tried.
CREATE TABLE jobs (
    name TEXT NOT NULL PRIMARY KEY,
    revision INTEGER NOT NULL,
    accounted_to INTEGER NOT NULL,
    last_run INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    retry_at INTEGER,
    running INTEGER NOT NULL,
    lease TEXT,
    beat INTEGER NOT NULL,
    paused_at INTEGER,
    paused_by TEXT,
    triggered_at INTEGER,
    triggered_by TEXT,
    good_at INTEGER
) STRICT, WITHOUT ROWID;

-- What every run did. `number` counts the runs of one job, and is their fence: a later run has a higher one.
CREATE TABLE job_runs (
    job TEXT NOT NULL,
    number INTEGER NOT NULL,
    cause TEXT NOT NULL,
    outcome TEXT NOT NULL,
    worker TEXT NOT NULL,
    scheduled_at INTEGER NOT NULL,
    missed INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    counts TEXT NOT NULL,
    detail TEXT,
    PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_runs_by_time ON job_runs (started_at);
