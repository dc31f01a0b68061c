import type { Validator } from '../../config/option.ts';
import { ConfigError, DataError } from '../../errors.ts';

/** Determines the subject of a schema in the registry (io.confluent.kafka.serializers.subject). */
export interface SubjectNaming {
  /** Whether the subject depends on the record name. */
  readonly byRecord: boolean;
  subject(topic: string, recordName: string | undefined): string;
}

const STRATEGIES = ['TopicNameStrategy', 'RecordNameStrategy', 'TopicRecordNameStrategy'] as const;

export const subjectStrategy: Validator = {
  text: `[${STRATEGIES.join(', ')}]`,
  check: (_name, value) => (kindOf(String(value)) === undefined ? `supported are ${STRATEGIES.join(', ')}` : undefined),
};

/** The class name may omit its package. */
function kindOf(className: string): (typeof STRATEGIES)[number] | undefined {
  const name = className.slice(className.lastIndexOf('.') + 1);
  return STRATEGIES.find((known) => known === name);
}

/** The strategy with a class name. Throws a ConfigError if it is not supported. */
export function subjectNaming(className: string, isKey: boolean): SubjectNaming {
  const kind = isKey ? 'key' : 'value';
  const record = (recordName: string | undefined): string => {
    if (recordName !== undefined) return recordName;
    throw new DataError(
      `In configuration ${kind}.subject.name.strategy = ${className}, the message ${kind} must only be a record schema`,
    );
  };
  switch (kindOf(className)) {
    case 'TopicNameStrategy':
      return { byRecord: false, subject: (topic) => `${topic}-${kind}` };
    case 'RecordNameStrategy':
      return { byRecord: true, subject: (_topic, recordName) => record(recordName) };
    case 'TopicRecordNameStrategy':
      return { byRecord: true, subject: (topic, recordName) => `${topic}-${record(recordName)}` };
    case undefined:
      throw new ConfigError(
        `Invalid value ${className} for configuration ${kind}.subject.name.strategy: supported are ${STRATEGIES.join(', ')}`,
      );
  }
}
