import { texts as frame } from './frame.ts';

export const texts = {
  ...frame,
  deadLetters: 'Dead letters',
  noLetterTopic:
    'The connector has no dead-letter topic (errors.deadletterqueue.topic.name). Its tasks remember their last faults.',
  letterTopic: (topic: string, scanned: string, hasMore: boolean) =>
    `Topic ${topic}, ${hasMore ? 'the first ' : ''}${scanned} records read.`,
  noLetters: 'There are no dead letters of this connector.',
  lastFaults: 'The last faults',
  whatNow: 'What would happen now?',
  previewed: (count: number, outcomes: string) =>
    count === 0 ? 'There is none any more.' : `Of the first ${String(count)}: ${outcomes}`,
  letterAt: (partition: number, offset: number, time: string) =>
    `Partition ${String(partition)}, offset ${String(offset)}, ${time}`,
  bytes: 'Bytes and headers',
  key: 'Key',
  value: 'Value',
} as const;
