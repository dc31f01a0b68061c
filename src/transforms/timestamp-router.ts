import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN } from '../connect/pipeline/struct-plan.ts';
import type { SimpleDateFormat } from '../java/date-format/simple-date-format.ts';
import { DataError } from '../errors.ts';
import { illegalArgument, requireTopic } from './requirements.ts';
import { recordTransformation } from './plugin-declaration.ts';
import { recordText } from './record-text.ts';
import { dateFormat } from './timestamp-kinds.ts';

const options = declareOptions({
  'topic.format': {
    type: 'STRING',
    default: '${topic}-${timestamp}',
    importance: 'HIGH',
    documentation: 'The new name of the topic, with `${topic}` and `${timestamp}` for the old one and the time.',
  },
  'timestamp.format': {
    type: 'STRING',
    default: 'yyyyMMdd',
    importance: 'HIGH',
    documentation: 'Pattern of Java’s SimpleDateFormat, in UTC, for the time.',
  },
});

const NO_TOPIC = 'Cannot invoke "String.indexOf(int)" because "s" is null';

/** Inserts the timestamp of a record into the name of its topic. */
export const timestampRouter = recordTransformation('TimestampRouter', options, (config) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  // An invalid pattern is reported with the first record, as in Connect.
  let format: SimpleDateFormat | undefined;
  const routed = (topic: string, timestamp: number): string => {
    format ??= dateFormat(parsed['timestamp.format'], illegalArgument);
    const time = format.format(timestamp);
    const name = requireTopic(topic, NO_TOPIC);
    const named = parsed['topic.format'].replaceAll('${topic}', () => name);
    return named.replaceAll('${timestamp}', () => time);
  };
  return {
    apply(record) {
      if (record.timestamp === null) throw new DataError(`Timestamp missing on record: ${recordText(record)}`);
      return { ...record, topic: routed(record.topic, record.timestamp) };
    },
    [PLAN](plan) {
      const { topic } = plan;
      if (topic === undefined) return false;
      plan.topic = undefined;
      plan.topicPlace = plan.place((to) => (cells, { timestamps }, index) => {
        const timestamp = timestamps[index] ?? -1;
        if (timestamp < 0) return false;
        cells[to] = routed(topic, timestamp);
        return true;
      });
      return true;
    },
  };
});
