import { declareOptions, nonEmptyString } from '../../src/index.ts';

const id = {
  type: 'INT',
  default: 0,
  importance: 'LOW',
  documentation: 'Number of the task, set by the connector.',
  internal: true,
} as const;

const topic = {
  type: 'STRING',
  importance: 'HIGH',
  documentation: 'Topic of the records.',
  validator: nonEmptyString,
} as const;

const throughput = {
  type: 'LONG',
  importance: 'HIGH',
  documentation: 'Records per second of each task. -1: as fast as possible; 0: none.',
} as const;

/** org.apache.kafka.connect.tools.VerifiableSourceConnector */
export const verifiableSourceOptions = declareOptions({
  topic,
  throughput,
  'complete.record.data': {
    type: 'STRING',
    default: 'false',
    importance: 'LOW',
    documentation: 'true: values are structs with name, task, topic, time_ms and seqno, not only the seqno.',
  },
  id,
});

/** org.apache.kafka.connect.tools.VerifiableSinkConnector */
export const verifiableSinkOptions = declareOptions({ id });

/** org.apache.kafka.connect.tools.SchemaSourceConnector */
export const schemaSourceOptions = declareOptions({
  topic,
  throughput,
  'num.messages': {
    type: 'LONG',
    importance: 'HIGH',
    documentation: 'Number of records that each task produces after each start.',
  },
  'multiple.schema': {
    type: 'STRING',
    default: 'false',
    importance: 'LOW',
    documentation: 'true: every second record has version 2 of the schema.',
  },
  'partition.count': {
    type: 'INT',
    default: 1,
    importance: 'LOW',
    documentation: 'The value of the field partitioning is the seqno modulo this number.',
  },
  id,
});

/** org.apache.kafka.connect.tools.MockConnector */
export const mockOptions = declareOptions({
  mock_mode: {
    type: 'STRING',
    default: null,
    importance: 'HIGH',
    documentation: 'connector-failure or task-failure: what fails after delay_ms. Otherwise nothing fails.',
  },
  delay_ms: {
    type: 'LONG',
    default: 15_000,
    importance: 'LOW',
    documentation: 'Milliseconds from the start to the failure.',
  },
});

/** java.lang.Boolean.parseBoolean */
export function isTrue(text: string): boolean {
  return text.toLowerCase() === 'true';
}
