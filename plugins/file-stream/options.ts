import { declareOptions, nonEmptyString } from '../../src/index.ts';

/** org.apache.kafka.connect.file.FileStreamSourceConnector, release 4.3. */
export const fileSourceOptions = declareOptions({
  file: {
    type: 'STRING',
    default: null,
    importance: 'HIGH',
    documentation: 'Source filename. If not specified, the standard input will be used',
  },
  topic: {
    type: 'STRING',
    importance: 'HIGH',
    documentation: 'The topic to publish data to',
    validator: nonEmptyString,
  },
  'batch.size': {
    type: 'INT',
    default: 2000,
    importance: 'LOW',
    documentation: 'The maximum number of records the source task can read from the file each time it is polled',
  },
});

/** org.apache.kafka.connect.file.FileStreamSinkConnector, release 4.3. */
export const fileSinkOptions = declareOptions({
  file: {
    type: 'STRING',
    default: null,
    importance: 'HIGH',
    documentation: 'Destination filename. If not specified, the standard output will be used',
  },
});
