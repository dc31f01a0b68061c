import { texts as frame } from './frame.ts';

const records = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'record' : 'records'}`;
const known = (count: number | null, what: string) =>
  count === null ? `Unknown how many records ${what}.` : `${records(count)} ${what}.`;

export const texts = {
  ...frame,
  offsets: 'Offsets',
  partition: 'Topic and partition',
  table: 'Table',
  first: 'First',
  position: 'Committed',
  end: 'End',
  nextRecord: 'Next record',
  beginning: 'beginning',
  asOf: (time: string) => `As of ${time}.`,
  heldAt: (time: string) => `As of ${time}, while you choose other offsets.`,
  noneOfSink: 'The topics of this sink have no partitions yet. Offsets appear when the topics exist.',
  noneOfSource: 'The source has not stored a position yet. It begins at the start of its tables when it runs.',
  more: (count: number) => `${count.toLocaleString('en')} more are not shown.`,
  change: 'Change the offsets',
  from: 'Continue from',
  choices: {
    earliest: 'the beginning',
    latest: 'the end: only what comes from now on',
    time: 'a time',
    given: 'these offsets',
    all: 'as a new connector: remove all offsets',
  },
  time: (zone: string) => `Time (${zone})`,
  newOffset: (key: string) => `Offset of ${key}`,
  givenHint: {
    sink: 'The offset of the next record of each partition. What you do not change stays.',
    source: 'A number for a table that is read by a number, else the offset as JSON. What you do not change stays.',
  },
  nothingGiven: 'Change at least one offset.',
  noOffset: (key: string) => `The value for ${key} is not a valid offset.`,
  noTime: 'Enter a time.',
  preview: 'Preview',
  previewed: 'What would happen',
  again: (count: number | null) => known(count, count === 1 ? 'is delivered again' : 'are delivered again'),
  skipped: (count: number | null) => known(count, count === 1 ? 'is skipped' : 'are skipped'),
  titleAgain: 'Delivered again',
  titleSkipped: 'Skipped',
  newPosition: 'New position',
  include: 'Change',
  includeOf: (key: string) => `Change ${key}`,
  unknown: 'unknown',
  withoutCounts: (reason: string) => `The number of records is unknown: ${reason}`,
  steps: {
    stop: 'Stop the connector: its tasks end',
    set: (count: number) =>
      `Set the offsets of ${count.toLocaleString('en')} ${count === 1 ? 'partition' : 'partitions'}`,
    setAll: 'Remove all offsets of the connector',
    resume: 'Resume the connector',
    pause: 'Pause the connector again',
  },
  stepStates: { waiting: 'to do', now: 'is being done…', done: 'done', failed: 'failed' },
  typeName: (name: string) => `This cannot be undone. Type ${name} to continue`,
  apply: { ran: 'Stop, set and resume', paused: 'Stop, set and pause', stopped: 'Set the offsets' },
  tryAgain: 'Retry',
  resumeNow: 'Resume it without the change',
  pauseNow: 'Pause it without the change',
  nothingSet: 'The connector has no offsets that could be removed.',
  finished: 'The offsets are set.',
  notSet: 'The connector is as it was before. Look at the offsets above: they may not be set.',
  stateNow: (state: string | undefined) => {
    if (state === undefined) return 'The state of the connector is unknown.';
    return state === 'STOPPED'
      ? 'The connector is stopped until it is resumed.'
      : `The state of the connector is ${state}.`;
  },
  offsetsNow: {
    stop: 'Its offsets are as they were.',
    set: 'Its offsets may not be set: look at them above before you continue.',
    resume: 'Its offsets are set.',
    pause: 'Its offsets are set.',
  },
  underWay: 'The change of the offsets',
  offsetsOf: (name: string) => `offsets of ${name}`,
  leaveIt: 'Leave it as it is',
} as const;
