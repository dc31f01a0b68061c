import type { SinkTask } from '../api.ts';
import { SinkRecordConverter } from '../pipeline/record-converter.ts';
import type { TaskRuntime } from '../tasks/task-runner.ts';
import { PolledRecords } from './polled-records.ts';
import { RecordCare } from './record-care.ts';

/** Builds the path of a task's records from the consumer to the plugin. */
export function taskRecords(
  { converters, chain, errors, place, assignment, onDropped }: TaskRuntime,
  task: SinkTask,
): PolledRecords {
  const converter = new SinkRecordConverter(converters, chain, errors, place, onDropped);
  const surroundings = { errors, hasTransforms: !chain.empty, valueConverter: converters.valueClass };
  const care = new RecordCare(assignment.care, surroundings);
  return new PolledRecords(task, converter, { converters, chain, care });
}
