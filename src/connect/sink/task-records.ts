import type { SinkTask } from '../api.ts';
import { LetterConverter } from '../dead-letters/letter-converter.ts';
import type { LetterReplay } from '../dead-letters/letter-replay.ts';
import type { ReplayFailures } from '../dead-letters/replay-failures.ts';
import { SinkRecordConverter } from '../pipeline/record-converter.ts';
import type { TaskRuntime } from '../tasks/task-runner.ts';
import { PolledRecords } from './polled-records.ts';
import { RecordCare } from './record-care.ts';

/** What a task reads that replays dead letters. */
export interface ReplayedLetters {
  readonly replay: LetterReplay;
  readonly failures: ReplayFailures;
}

/** The way of a task's records from the consumer into the plugin. */
export function taskRecords(
  runtime: TaskRuntime,
  task: SinkTask,
  replayed: ReplayedLetters | undefined,
): PolledRecords {
  const { converters, chain, errors, place, assignment } = runtime;
  const converter = new SinkRecordConverter(converters, chain, errors, place);
  const hasTransforms = !chain.empty;
  const care = new RecordCare(assignment.care, { errors, hasTransforms, valueConverter: converters.valueClass });
  if (replayed === undefined) return new PolledRecords(task, converter, { converters, chain, care });
  const letters = new LetterConverter(converter, replayed, hasTransforms);
  return new PolledRecords(task, letters, { converters, chain, care, letters });
}
