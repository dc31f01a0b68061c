import {
  declareOptions,
  JavaPattern,
  parseOptions,
  Schema,
  Struct,
  validRegex,
  type ConnectRecord,
} from '../../../src/index.ts';
import { changeEvent, rememberedByName, withOptions } from './change-event.ts';
import { debeziumTransform } from './declaration.ts';

const TEXT = new Schema('string');

const options = declareOptions({
  'topic.regex': {
    type: 'STRING',
    importance: 'LOW',
    documentation: 'Regular expression of the topics that are renamed.',
    validator: validRegex,
  },
  'topic.replacement': {
    type: 'STRING',
    importance: 'LOW',
    documentation: 'New name of the topics that match `topic.regex`; `$1` is the first group of the match.',
  },
  'key.enforce.uniqueness': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation: 'Whether a field that identifies the table is added to the key, so that keys stay unique.',
  },
  'key.field.name': {
    type: 'STRING',
    default: '__dbz__physicalTableIdentifier',
    importance: 'LOW',
    documentation: 'Name of the field that identifies the table in the key.',
  },
  'key.field.regex': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation:
      'Regular expression that is applied to the original topic to make the value of this field. Default: the value is the topic.',
  },
  'key.field.replacement': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation: 'Value of the field in the key, with groups of `key.field.regex` such as `$1`.',
  },
});

/** `io.debezium.transforms.ByLogicalTableRouter`: sends events of several tables to one topic, and keeps their keys unique. */
export const byLogicalTableRouter = debeziumTransform('ByLogicalTableRouter', options, (config) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const topicPattern = JavaPattern.compile(parsed['topic.regex']);
  const keyRegex = parsed['key.field.regex'];
  const keyPattern = keyRegex === null ? undefined : JavaPattern.compile(keyRegex);
  const keySchemaFor = rememberedByName((schema, name) =>
    withOptions(schema, { name }, [...schema.fields, { name: parsed['key.field.name'], schema: TEXT }]),
  );
  const eventSchemaFor = rememberedByName((schema, name) => {
    const row = `${name.slice(0, -'.Envelope'.length)}.Value`;
    const fields = schema.fields.map((field) => {
      const isRow = field.name === 'before' || field.name === 'after';
      return { name: field.name, schema: isRow ? withOptions(field.schema, { name: row }) : field.schema };
    });
    return withOptions(schema, { name }, fields);
  });

  const keyOf = (record: ConnectRecord, topic: string): Pick<ConnectRecord, 'key' | 'keySchema'> => {
    const { key, keySchema } = record;
    if (!parsed['key.enforce.uniqueness'] || !(key instanceof Struct) || keySchema === null) return { key, keySchema };
    const schema = keySchemaFor(keySchema, `${topic}.Key`);
    const table = keyPattern?.replaceFirst(record.topic, parsed['key.field.replacement'] ?? '') ?? record.topic;
    return { keySchema: schema, key: new Struct(schema, [...key.values, table]) };
  };

  return {
    apply<R extends ConnectRecord>(record: R): R {
      if (!topicPattern.matches(record.topic)) return record;
      const topic = topicPattern.replaceFirst(record.topic, parsed['topic.replacement']);
      if (topic === '') return record;
      const routed = { ...record, topic, ...keyOf(record, topic) };
      const event = changeEvent(record);
      if (event === undefined) return routed;
      const schema = eventSchemaFor(event.schema, `${topic}.Envelope`);
      const values = event.values.map((value, index) => {
        const field = schema.fields[index];
        return value instanceof Struct && field !== undefined ? new Struct(field.schema, value.values) : value;
      });
      return { ...routed, valueSchema: schema, value: new Struct(schema, values) };
    },
  };
});
