import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { DatePatternError } from '../java/date-format/date-pattern.ts';
import { SimpleDateFormat } from '../java/date-format/simple-date-format.ts';
import { DataError } from '../errors.ts';
import { illegalArgument } from './requirements.ts';
import { recordTransformation } from './plugin-declaration.ts';
import { recordText } from './record-text.ts';

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
    documentation: 'How the time is written: a pattern of Java’s SimpleDateFormat, in UTC.',
  },
});

/** Puts the time of the record into the name of its topic. */
export const timestampRouter = recordTransformation('TimestampRouter', options, (config) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  // A wrong pattern is found with the first record, as in Connect.
  let format: SimpleDateFormat | undefined;
  return {
    apply(record) {
      if (record.timestamp === null) throw new DataError(`Timestamp missing on record: ${recordText(record)}`);
      format ??= dateFormat(parsed['timestamp.format']);
      const time = format.format(record.timestamp);
      const topic = parsed['topic.format'].replaceAll('${topic}', () => record.topic);
      return { ...record, topic: topic.replaceAll('${timestamp}', () => time) };
    },
  };
});

function dateFormat(pattern: string): SimpleDateFormat {
  try {
    return new SimpleDateFormat(pattern);
  } catch (error) {
    if (error instanceof DatePatternError) throw illegalArgument(error.message);
    throw error;
  }
}
