import { restartClause, type RestartView } from '../restarts/restart-view.ts';
import type { Verdict } from './verdicts.ts';

/**
 * Figures of a task. If the worker of the task does not answer or the task does not run, only `task`, `state`, `worker`
 * and `silentMs` are known; the other members are absent, 0, empty or `null`. The only task of a sink that does not
 * read may have the lag of the committed offsets.
 */
export interface TaskFigures {
  readonly task: number;
  readonly state: string;
  readonly worker: string;
  readonly thread: string | number | null;
  readonly partitions: readonly { readonly topic: string; readonly partition: number; readonly lag: number | null }[];
  /** Undelivered records; `null`: unknown. */
  readonly lag: number | null;
  /** Records that the task has taken and not delivered yet. */
  readonly waiting: number;
  /** ISO 8601; `null`: nothing was delivered since the task started. */
  readonly lastDeliveredAt: string | null;
  /** Sink tasks: duration in milliseconds of the last `put` that delivered records. */
  readonly lastPutMs?: number | undefined;
  /**
   * Milliseconds for which records, or a start or poll of the task, have been waiting while nothing was delivered; 0 if
   * nothing waits.
   */
  readonly waitedMs: number;
  /** How often `put` or `poll` has requested a retry. */
  readonly retries: number;
  readonly deadLettersPerMinute: number;
  readonly missingTopics: readonly string[];
  /** Sink tasks: topics that have never had a record in any of the task's partitions; absent: none. */
  readonly emptyTopics?: readonly string[] | undefined;
  /** Why the task is blocked; `null`: it is not, or the cause is not known. */
  readonly cause: string | null;
  /** Parts of the task (tables of a source) that it cannot process while it continues with the others; absent: none. */
  readonly failedParts?: FailedParts | undefined;
  /** Sentences of the task that do not change the verdict; absent: none. */
  readonly hints?: readonly string[] | undefined;
  /** Milliseconds of the last ten seconds for which a rate limit has held the task back. */
  readonly throttledMs?: number | undefined;
  /** Sink tasks: milliseconds for which the task has had no partition. */
  readonly withoutPartitionsMs?: number | undefined;
  /** Sink tasks: whether the consumer has an assignment from its group, even an empty one. */
  readonly isInGroup?: boolean | undefined;
  /** Sink tasks: milliseconds since an offset commit began, if no commit has succeeded since. */
  readonly uncommittedMs?: number | undefined;
  /** Milliseconds for which the worker of the task has not answered; absent: it answers. */
  readonly silentMs?: number | undefined;
}

export interface FailedParts {
  readonly count: number;
  /** The first failed parts. */
  readonly parts: readonly { readonly name: string; readonly error: string }[];
}

export interface ConnectorFigures {
  readonly type: 'sink' | 'source' | 'unknown';
  readonly state: string;
  readonly trace: string | null;
  readonly tasks: readonly (TaskFigures & { readonly trace?: string | null })[];
  /** Workers that have tasks of the connector and did not answer. */
  readonly silentWorkers: readonly string[];
  /** Whether a sink lists its topics instead of matching them by a pattern. */
  readonly listsTopics?: boolean | undefined;
  /** Whether `tasks` leaves out the connector's tasks on other workers. */
  readonly isPartial?: boolean | undefined;
  /** Restart states of the failed connector instance and the failed tasks. */
  readonly restarts?: readonly RestartView[];
}

/** Precedes each cause in a Java stack trace. */
const CAUSED_BY = '\nCaused by: ';

export interface Thresholds {
  readonly stallAfterMs: number;
  /** Dead letters and skipped records per minute, of all tasks together. */
  readonly degradedRate: number;
  /** Records that one task is behind. */
  readonly laggingRecords: number;
}

export interface Judgement {
  readonly verdict: Verdict;
  readonly sentence: string;
  /** The sentence without its clause about the next restart, which `restarts` has as fields. */
  readonly summary: string;
  readonly reasons: readonly string[];
}

/**
 * Derives the verdict from the figures, without side effects. A task that waits for its rate limit has no pending
 * records, so it is never STALLED.
 */
export function judge(figures: ConnectorFigures, thresholds: Thresholds): Judgement {
  const judged = failed(figures) ?? requested(figures) ?? working(figures, thresholds);
  return { summary: judged.sentence, ...judged };
}

/** `summary` is absent if it equals the sentence. */
type Finding = Omit<Judgement, 'summary'> & Partial<Pick<Judgement, 'summary'>>;

function working(figures: ConnectorFigures, thresholds: Thresholds): Finding {
  const stalls = figures.tasks.flatMap((task) => stallOf(task, figures.type, thresholds));
  const [stalled] = stalls;
  if (stalled !== undefined) return { verdict: 'STALLED', sentence: stalled, reasons: stalls };
  const unread = withoutPartitions(figures);
  if (unread !== undefined) {
    const verdict = unread.ms >= thresholds.stallAfterMs ? 'STALLED' : 'UNASSIGNED';
    return { verdict, sentence: unread.sentence, reasons: [unread.sentence] };
  }
  const unassigned = withoutWork(figures);
  if (unassigned !== undefined) return { verdict: 'UNASSIGNED', sentence: unassigned, reasons: [unassigned] };
  const degraded = [...undelivered(figures, thresholds), ...figures.tasks.flatMap(failedPartsOf)];
  const [firstDegraded] = degraded;
  if (firstDegraded !== undefined) return { verdict: 'DEGRADED', sentence: firstDegraded, reasons: degraded };
  const lags = figures.tasks.flatMap((task) => lagOf(task, thresholds));
  const [lagging] = lags;
  if (lagging !== undefined) return { verdict: 'LAGGING', sentence: lagging, reasons: lags };
  const uncommitted = figures.tasks.filter(({ uncommittedMs = 0 }) => uncommittedMs >= thresholds.stallAfterMs);
  const reasons = [
    ...figures.silentWorkers.map((worker) => `Worker ${worker} does not answer.`),
    ...idleTasks(figures, thresholds),
    ...unusedTopics(figures),
    ...new Set(figures.tasks.flatMap(({ hints = [] }) => hints)),
    ...uncommitted.map((task) => `${uncommittedText(task)}; when the task starts again, it reads their records again.`),
  ];
  return { verdict: 'RUNNING', sentence: runningText(figures, uncommitted), reasons };
}

function requested({ state }: ConnectorFigures): Finding | undefined {
  if (state !== 'PAUSED' && state !== 'STOPPED') return undefined;
  return { verdict: state, sentence: `The connector is ${state.toLowerCase()} by request.`, reasons: [] };
}

function failed({ state, trace, tasks, restarts = [] }: ConnectorFigures): Finding | undefined {
  const withRestart = (summary: string, task: number | null) => {
    const restart = restarts.find((each) => each.task === task);
    if (restart === undefined) return { summary, sentence: summary };
    return { summary, sentence: `${summary.replace(/\.$/, '')}; ${restartClause(restart)}.` };
  };
  const own = state === 'FAILED' ? [withRestart(`The connector has failed: ${causeOf(trace)}`, null)] : [];
  const ofTasks = tasks.filter((task) => task.state === 'FAILED');
  const all = [
    ...own,
    ...ofTasks.map(({ task, trace: ofTask = null }) =>
      withRestart(`Task ${String(task)} has failed: ${causeOf(ofTask)}`, task),
    ),
  ];
  const [first] = all;
  return first && { verdict: 'FAILED', ...first, reasons: all.map(({ sentence }) => sentence) };
}

function stallOf(task: TaskFigures, type: ConnectorFigures['type'], { stallAfterMs }: Thresholds): string[] {
  const name = `Task ${String(task.task)}`;
  const [missing] = task.missingTopics;
  if (missing !== undefined && task.partitions.length === 0) {
    return [`${name} has nothing to read: the topic ${missing} does not exist.`];
  }
  if (task.state !== 'RUNNING' && task.state !== 'STARTING') return [];
  if (task.silentMs !== undefined && task.silentMs >= stallAfterMs) {
    return [`${name}: its worker ${task.worker} has not answered for ${seconds(task.silentMs)}.`];
  }
  if (task.waitedMs < stallAfterMs) return [];
  const waited = seconds(task.waitedMs);
  const what = type === 'source' ? 'was acknowledged' : 'was delivered';
  const records = Math.max(task.waiting, task.lag ?? 0);
  const waiting = records === 0 ? 'The task waits' : `${count(records, 'record')} ${records === 1 ? 'waits' : 'wait'}`;
  const why = task.cause ?? 'the cause is not known';
  return [`${name}: ${waiting}, and nothing ${what} for ${waited}: ${why}.`];
}

function undelivered({ tasks }: ConnectorFigures, { degradedRate }: Thresholds): string[] {
  const perMinute = tasks.reduce((sum, { deadLettersPerMinute }) => sum + deadLettersPerMinute, 0);
  if (perMinute <= degradedRate) return [];
  return [
    `${count(perMinute, 'record')} could not be delivered in the last minute, more than degraded.rate=${String(degradedRate)}.`,
  ];
}

/** One sentence for each named part; a last one counts the others. */
function failedPartsOf({ task, failedParts }: TaskFigures): string[] {
  if (failedParts === undefined) return [];
  const { count: all, parts } = failedParts;
  const sentences = parts.map(({ name, error }) => `Task ${String(task)} cannot process ${name}: ${error}.`);
  const others = all - parts.length;
  return others === 0
    ? sentences
    : [...sentences, `Task ${String(task)} cannot process ${String(others)} others either.`];
}

function lagOf(task: TaskFigures, { laggingRecords }: Thresholds): string[] {
  if (task.lag === null || task.lag <= laggingRecords) return [];
  const behind = `Task ${String(task.task)} is ${count(task.lag, 'record')} behind, more than lagging.records=${String(laggingRecords)}`;
  return [isThrottled(task) ? `${behind}: its rate limit holds it back.` : `${behind}.`];
}

function isThrottled({ throttledMs = 0 }: TaskFigures): boolean {
  return throttledMs > 0;
}

/** A hint: the connector works, but some of its tasks never get a partition. */
function idleTasks({ type, tasks, silentWorkers, isPartial = false }: ConnectorFigures, { stallAfterMs }: Thresholds) {
  if (type !== 'sink' || silentWorkers.length > 0 || isPartial) return [];
  const idle = tasks.filter(
    ({ withoutPartitionsMs = 0, isInGroup }) => isInGroup === true && withoutPartitionsMs >= stallAfterMs,
  );
  if (idle.length === 0 || idle.length === tasks.length) return [];
  return [
    `${String(idle.length)} of ${String(tasks.length)} tasks have no partition: tasks.max is greater than the number of partitions, or other members of the consumer group have them.`,
  ];
}

/**
 * A hint about topics whose names may be misspelt. The broker creates a topic with a misspelt name, or the topic stays
 * missing; in both cases, the connector reads only its other topics.
 */
function unusedTopics({ tasks, silentWorkers, listsTopics = false, isPartial = false }: ConnectorFigures): string[] {
  if (!listsTopics || silentWorkers.length > 0 || isPartial) return [];
  const used = new Set(
    tasks.flatMap(({ partitions, emptyTopics = [] }) => {
      const empty = new Set(emptyTopics);
      return partitions.flatMap(({ topic }) => (empty.has(topic) ? [] : topic));
    }),
  );
  const empty = new Set(tasks.flatMap(({ emptyTopics = [] }) => emptyTopics.filter((topic) => !used.has(topic))));
  const missing = new Set(tasks.flatMap(({ missingTopics }) => missingTopics));
  return [
    ...[...missing].map((topic) => `The topic ${topic} does not exist; check its name in topics.`),
    ...[...empty].map((topic) => `The topic ${topic} has never had a record; check its name in topics.`),
  ];
}

/**
 * The finding about a sink without any partition. `undefined` if the figures of some tasks are not known or a task is
 * not RUNNING, and if one of its tasks has a partition: the others may be idle because there are more tasks than
 * partitions.
 */
function withoutPartitions({ type, tasks, silentWorkers, isPartial = false }: ConnectorFigures) {
  const running = tasks.filter(({ state }) => state === 'RUNNING');
  const isWhole = silentWorkers.length === 0 && !isPartial && running.length === tasks.length;
  if (type !== 'sink' || !isWhole || tasks.length === 0) return undefined;
  if (tasks.some(({ partitions }) => partitions.length > 0)) return undefined;
  const ms = Math.min(...tasks.map(({ withoutPartitionsMs = 0 }) => withoutPartitionsMs));
  const isSettled = tasks.every(({ isInGroup = false }) => isInGroup);
  const why = isSettled
    ? 'other members of its consumer group have all of them, or the topics have none'
    : 'its consumer group is rebalancing';
  return { ms, sentence: `No task has had a partition for ${seconds(ms)}: ${why}.` };
}

function withoutWork({ state, tasks }: ConnectorFigures): string | undefined {
  if (state === 'UNASSIGNED') return 'No worker has the connector.';
  if (tasks.length === 0) return 'The connector has no tasks.';
  const isNowhere = tasks.every((task) => task.state === 'UNASSIGNED');
  return isNowhere ? 'No task runs: the tasks have just been created, or no worker has them.' : undefined;
}

function uncommittedText({ task, uncommittedMs = 0 }: TaskFigures): string {
  return `Kafka has not acknowledged the offsets of task ${String(task)} for ${seconds(uncommittedMs)}`;
}

function runningText({ tasks, silentWorkers }: ConnectorFigures, [uncommitted]: readonly TaskFigures[]): string {
  const starting = tasks.filter(({ state }) => state === 'STARTING').length;
  const known = tasks.filter(({ silentMs, state }) => silentMs === undefined && state === 'RUNNING');
  const lags = known.flatMap(({ lag }) => lag ?? []);
  const lag = lags.reduce((sum, each) => sum + each, 0);
  const running = `${count(known.length, 'task')} ${known.length === 1 ? 'runs' : 'run'}${starting === 0 ? '' : `, ${String(starting)} ${starting === 1 ? 'starts' : 'start'}`}`;
  const behind = lags.length === 0 ? '' : `, ${count(lag, 'record')} behind`;
  const throttled = known.filter(isThrottled).length;
  const held = throttled === 0 ? '' : `; the rate limit holds ${String(throttled)} of them back`;
  const commits = uncommitted === undefined ? '' : `; ${uncommittedText(uncommitted)}`;
  const silentTasks = tasks.filter(({ silentMs }) => silentMs !== undefined).length;
  const [silent] = silentWorkers;
  if (silent === undefined) return `${running}${behind}${held}${commits}.`;
  const others = silentWorkers.length - 1;
  const silence = others === 0 ? `worker ${silent} does` : `worker ${silent} and ${count(others, 'other')} do`;
  return `${running}${behind}${held}${commits}; ${silence} not answer for ${count(silentTasks, 'task')}.`;
}

const MAX_LINE = 1000;
/** Exception classes whose names add nothing to their messages. */
const WRAPPERS =
  /^(?:org\.apache\.kafka\.connect\.errors\.(?:Connect|Data|Retriable)Exception|org\.apache\.kafka\.common\.(?:errors\.SerializationException|config\.ConfigException)|Error): (?=\S)/;
const PACKAGE = /^(?:[a-z][\w$]{0,60}\.){1,12}(?=[A-Z])/;

/**
 * An error of Node.js itself, such as `connect ECONNREFUSED 127.0.0.1:1`. The errors around it name the server that
 * could not be reached.
 */
const SYSTEM_ERROR = /^java\.lang\.RuntimeException: [a-z]{1,30} E[A-Z]{3,30}\b/;

/**
 * The innermost cause in a trace, because the outer causes only say that the task ended, not why. An error of Node.js
 * does not name the server. If it is the innermost cause, the cause around it is used instead, or the outermost of
 * several consecutive causes of that class. If the trace names the record, the position of the record is appended.
 */
function causeOf(trace: string | null): string {
  const text = trace ?? '';
  let at = text.lastIndexOf(CAUSED_BY);
  if (at >= 0 && SYSTEM_ERROR.test(text.slice(at + CAUSED_BY.length, at + CAUSED_BY.length + MAX_LINE))) {
    at = outermostOfKind(text, at);
  }
  const begin = at < 0 ? 0 : at + CAUSED_BY.length;
  const [first = ''] = text.slice(begin, begin + MAX_LINE).split('\n', 1);
  if (first === '') return 'there is no trace';
  const line = first.replace(WRAPPERS, '').replace(PACKAGE, '');
  const place = placeIn(text);
  return place === undefined || line.includes(place) ? line : `${line} (${place})`;
}

/**
 * Starts from the cause before `end`, and goes outwards while the class stays the same. Returns where the last such
 * cause begins; -1 if it is the exception itself.
 */
function outermostOfKind(trace: string, end: number): number {
  const classAt = (at: number): string =>
    /^[\w.$]{1,200}/.exec(trace.slice(at < 0 ? 0 : at + CAUSED_BY.length))?.[0] ?? '';
  let at = end > 0 ? trace.lastIndexOf(CAUSED_BY, end - 1) : -1;
  while (at >= 0) {
    const outer = at > 0 ? trace.lastIndexOf(CAUSED_BY, at - 1) : -1;
    if (classAt(outer) !== classAt(at)) break;
    at = outer;
  }
  return at;
}

const AT_RECORD = ' failed for the record at ';

/** `VALUE_CONVERTER, topic t, partition 0, offset 1`, from the message of the error policy. */
function placeIn(trace: string): string | undefined {
  const at = trace.indexOf(AT_RECORD);
  if (at < 0) return undefined;
  const stage = /[A-Z_]{1,30}$/.exec(trace.slice(Math.max(0, at - 30), at))?.[0];
  const [where] =
    /^topic [\w.-]{1,249}, partition \d{1,10}, offset \d{1,19}/.exec(trace.slice(at + AT_RECORD.length)) ?? [];
  return stage === undefined || where === undefined ? undefined : `${stage}, ${where}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(0)} s`;
}

function count(number: number, noun: string): string {
  return `${String(number)} ${noun}${number === 1 ? '' : 's'}`;
}
