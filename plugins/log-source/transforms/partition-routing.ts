import {
  declareOptions,
  oneOfIgnoringCase,
  parseOptions,
  Struct,
  type ConnectRecord,
  type ConnectValue,
} from '../../../src/index.ts';
import { changeEvent } from './change-event.ts';
import { debeziumTransform } from './declaration.ts';
import { javaHash, murmurHash, type PartitionHash } from './partition-hash.ts';
import { listOfNames, positive } from './validators.ts';

const options = declareOptions({
  'partition.payload.fields': {
    type: 'LIST',
    importance: 'HIGH',
    documentation:
      'Fields of the event that decide the partition, such as `source.table,change.id`; `change` is the row: `before` of deletes, otherwise `after`. Fields that an event does not have are ignored.',
    validator: listOfNames({ spacesAllowed: true }),
  },
  'partition.topic.num': {
    type: 'INT',
    importance: 'HIGH',
    documentation: 'Number of partitions of the topic.',
    validator: positive,
  },
  'partition.hash.function': {
    type: 'STRING',
    default: 'java',
    importance: 'LOW',
    documentation: 'Hash of the values: java or murmur.',
    validator: oneOfIgnoringCase('java', 'murmur'),
  },
});

const MAX_INT = 2 ** 31 - 1;

/** `io.debezium.transforms.partitions.PartitionRouting`: chooses the partition of a record by fields of the event. */
export const partitionRouting = debeziumTransform('partitions.PartitionRouting', options, (config) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const partitions = parsed['partition.topic.num'];
  const paths = parsed['partition.payload.fields'].map((field) => field.split('.').map((part) => part.trim()));
  const hash = parsed['partition.hash.function'].toLowerCase() === 'murmur' ? murmurHash : javaHash;

  return {
    apply<R extends ConnectRecord>(record: R): R {
      const event = changeEvent(record);
      if (event === undefined) return record;
      const operation = event.get('op');
      if (operation === 't' || operation === 'm') return record;
      const row = operation === 'd' ? 'before' : 'after';
      const hashes = paths.map((path) => fieldHash(event, path, row, hash)).filter((each) => each !== undefined);
      if (hashes.length === 0) return record;
      const sum = hashes.reduce((total, each) => (total + each) | 0, 0) & MAX_INT;
      return { ...record, partition: (sum === MAX_INT ? 0 : sum) % partitions };
    },
  };
});

/** The hash of a field of the event; `undefined` if the field is missing or null. */
function fieldHash(event: Struct, path: readonly string[], row: string, hash: PartitionHash): number | undefined {
  let value: ConnectValue = event;
  for (const [index, part] of path.entries()) {
    if (!(value instanceof Struct)) return undefined;
    const isLast: boolean = index === path.length - 1;
    const field = value.schema.field(part === 'change' && !isLast ? row : part);
    if (field === undefined) return undefined;
    value = value.get(field.name) ?? (field.schema.defaultValue as ConnectValue | undefined) ?? null;
    if (value === null) return undefined;
    if (isLast) return hash(value, field.schema);
  }
  return undefined;
}
