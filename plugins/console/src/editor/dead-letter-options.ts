import { valueIn, withValue, type Entry } from './config-document.ts';

/** Options with which a sink writes failed records to a dead-letter topic. The topic name is a proposal. */
export function deadLetterOptions(name: string): Readonly<Record<string, string>> {
  return {
    'errors.tolerance': 'all',
    'errors.deadletterqueue.topic.name': `${name}-dead`,
    'errors.deadletterqueue.context.headers.enable': 'true',
  };
}

/** Adds the options for a dead-letter topic. If the configuration already names a topic, that name is kept. */
export function withDeadLetters(name: string, entries: readonly Entry[]): readonly Entry[] {
  return Object.entries(deadLetterOptions(name)).reduce<readonly Entry[]>((result, [key, value]) => {
    const isNamed = key.endsWith('topic.name') && (valueIn(result, key) ?? '') !== '';
    return isNamed ? result : withValue(result, key, value);
  }, entries);
}
