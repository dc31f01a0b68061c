import { texts as frame } from './frame.ts';

const records = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'record' : 'records'}`;

/** Formats the length of a bucket in a suitable unit. Lengths are one second times a power of two. */
function durationText(ms: number): string {
  const [unit, length] = (
    [
      ['day', 86_400_000],
      ['hour', 3_600_000],
      ['minute', 60_000],
    ] as const
  ).find(([, each]) => ms >= each) ?? ['second', 1000];
  const count = Math.round((ms / length) * 10) / 10;
  return `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`;
}

export const texts = {
  ...frame,
  deadLetters: 'Dead letters',
  noDeadLetterTopic: 'The connector has no dead-letter topic: records that fail are not kept.',
  keepRecords:
    'To keep records that fail, and to be able to replay them, set these options in the configuration. The name of the topic is yours to choose.',
  addOptions: 'Add to the configuration',
  noFaults: 'Its tasks remember no fault.',
  deadLetterTopic: (topic: string, scanned: string, hasMore: boolean) =>
    `Topic ${topic}, ${hasMore ? 'the first ' : ''}${scanned} records read.`,
  asOf: (time: string) => `As of ${time}.`,
  look: 'Refresh',
  readMore: 'Read more of the topic',
  ungrouped: (count: number) => `${records(count)} more are in further groups, which are not shown.`,
  noRecords: 'There are no dead letters of this connector.',
  lastFaults: 'The last faults',
  lastFaultsHint: 'The latest faults that the tasks remember since they started, at most 100.',
  silentTasks: (tasks: string) => `No answer from these tasks: ${tasks}.`,
  taskFault: (task: number) => `task ${String(task)}`,
  firstAndLast: (first: string, last: string) => (first === last ? first : `${first} to ${last}`),
  times: (from: string, to: string, most: number, at: string, bucketMs: number) =>
    `From ${from} to ${to}: at most ${records(most)} in ${durationText(bucketMs)}, at ${at}`,
  whatNow: 'What would happen now?',
  mayFix: 'This may fix it:',
  nextRecord: 'Next record',
  wouldSucceed: 'These records would now be stored.',
  replayNow: (count: number) => `Replay ${count === 1 ? 'it' : `all ${count.toLocaleString('en')}`}…`,
  replayedGroups: (count: number) => (count === 1 ? '1 group is replayed' : `${String(count)} groups are replayed`),
  previewed: (count: number, outcomes: string) =>
    count === 0 ? 'No record is left.' : `Of the first ${String(count)}: ${outcomes}`,
  outcomes: {
    stored: 'stored',
    dropped: 'dropped by a transform',
    'fails with the same fault': 'fails with the same fault',
    'fails with another fault': 'fails with another fault',
  } as Readonly<Record<string, string>>,
  recordAt: (partition: number, offset: number, time: string) =>
    `Partition ${String(partition)}, offset ${String(offset)}, ${time}`,
  place: (partition: number, offset: number) => `Record ${String(partition)}/${String(offset)}`,
  origin: (topic: string, partition: number, offset: number) =>
    `From ${topic}, partition ${String(partition)}, offset ${String(offset)}`,
  replayed: (count: number, of: number) =>
    count === of ? 'all replayed' : `${count.toLocaleString('en')} of ${of.toLocaleString('en')} replayed`,
  replayedIn: (replay: number) => `sent again by replay ${String(replay)}`,
  attempt: (attempt: number) => `failed again in replay attempt ${String(attempt)}`,
  record: 'The record with its schema',
  bytes: 'Bytes and headers',
  firstBytes: (shown: number, all: number) => `the first ${String(shown)} of ${String(all)} bytes`,
  key: 'Key',
  value: 'Value',
  headers: 'Headers',
  whole: 'Show the whole record',
  null: 'null',
  showAll: (count: number) => `Show all ${String(count)}`,
  find: 'Find a dead-letter record',
  findIt: 'Find',
  partition: 'Partition',
  offset: 'Offset',
  givePlace: 'Enter a partition and an offset, each a number.',
  replay: 'Replay',
  replayGroup: 'Replay these…',
  replayHint:
    'Records go through the converters, the transforms and a task of the sink again. What is stored in the meantime may be overwritten by an older record with the same key.',
  which: 'Records',
  all: 'All records of the connector',
  narrow: 'Only some of them',
  range: (place: number) => `Partition and offsets ${String(place)}`,
  rangeFields: { partition: 'Partition', from: 'From offset', to: 'To offset' },
  addRange: 'Add another partition',
  removeRange: 'Remove',
  since: (zone: string) => `Since (${zone})`,
  until: (zone: string) => `Before (${zone})`,
  filters: {
    stage: 'Stage is',
    class: 'Class of the error is',
    sqlstate: 'SQLSTATE is',
    table: 'Table is',
    column: 'Column is',
    topic: 'Topic of the record is',
    message: 'Message contains',
  },
  chain: 'Other transforms',
  chainHint:
    'The transforms and predicates of this replay, which replace those of the connector: a JSON object of their options. An empty text keeps those of the connector.',
  rate: 'Records a second, at most',
  problems: {
    partition: 'The partition must be a number. Offsets need a partition.',
    offsets: 'Offsets are numbers, and the last is not before the first.',
    time: 'The times are not valid, or the second is not after the first.',
    transforms: 'The transforms must be a JSON object of options and their values.',
    rate: 'The rate is a number from 1 to 10,000,000.',
  },
  preview: 'Preview',
  start: 'Start the replay',
  previewFirst: 'Preview the replay before you start it.',
  started: (id: number) => `Replay ${String(id)} has started.`,
  replays: 'Replays',
  noReplays: 'Nothing was replayed yet.',
  replayTitle: (id: number) => `Replay ${String(id)}`,
  states: { RUNNING: 'running', DONE: 'done', STOPPED: 'stopped', FAILED: 'failed' },
  startedBy: (time: string, by: string) => `started ${time}${by === '' ? '' : ` by ${by}`}`,
  ended: (time: string) => `ended ${time}`,
  through: (transforms: string) => (transforms === '' ? 'without transforms' : `through ${transforms}`),
  progress: (done: number, all: number) => `${done.toLocaleString('en')} of ${all.toLocaleString('en')} offsets passed`,
  counts: (selected: number, delivered: number, dropped: number) =>
    `${records(selected)} selected, ${delivered.toLocaleString('en')} delivered, ${dropped.toLocaleString('en')} dropped,`,
  failed: (count: number) => `${count.toLocaleString('en')} failed again`,
  speed: (perSecond: number) => `${Math.round(perSecond).toLocaleString('en')} a second`,
  stopping: 'Stopping…',
  replayRest: 'Replay the rest…',
  replayRestOf: (id: number) => `Replay the rest of replay ${String(id)}`,
  restOf: (id: number) => `The rest of replay ${String(id)}`,
  stopReplay: (id: number) => `Stop replay ${String(id)}`,
  showFailed: 'Show what failed again',
} as const;
