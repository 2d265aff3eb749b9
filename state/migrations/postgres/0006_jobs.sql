-- What is due when, and who runs it. Moments are microseconds since 1970.
-- `accounted_to`: every moment of the schedule up to this one was run, or is told by a run that stands for it.
-- `lease` names the run that is at work; `beat` is counted up as long as it lives. No other clock decides about it.
-- `retry_at`: when the last run is to be tried again; `attempt`: how often it was tried.
CREATE TABLE jobs (
    name TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    accounted_to BIGINT NOT NULL,
    last_run BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    retry_at BIGINT,
    running BIGINT NOT NULL,
    lease TEXT,
    beat BIGINT NOT NULL,
    paused_at BIGINT,
    paused_by TEXT,
    triggered_at BIGINT,
    triggered_by TEXT,
    good_at BIGINT
);

-- What every run did. `number` counts the runs of one job, and is their fence: a later run has a higher one.
CREATE TABLE job_runs (
    job TEXT NOT NULL,
    number BIGINT NOT NULL,
    cause TEXT NOT NULL,
    outcome TEXT NOT NULL,
    worker TEXT NOT NULL,
    scheduled_at BIGINT NOT NULL,
    missed BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    counts TEXT NOT NULL,
    detail TEXT,
    PRIMARY KEY (job, number)
);
CREATE INDEX job_runs_by_time ON job_runs (started_at);
