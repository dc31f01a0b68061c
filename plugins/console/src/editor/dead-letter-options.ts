import { valueIn, withValue, type Entry } from './config-document.ts';

/** The options that keep the failed records of a sink in a topic. The name of the topic is a proposal. */
export function deadLetterOptions(name: string): Readonly<Record<string, string>> {
  return {
    'errors.tolerance': 'all',
    'errors.deadletterqueue.topic.name': `${name}-dead`,
    'errors.deadletterqueue.context.headers.enable': 'true',
  };
}

/** A topic that the configuration names already stays. */
export function withDeadLetters(name: string, entries: readonly Entry[]): readonly Entry[] {
  return Object.entries(deadLetterOptions(name)).reduce<readonly Entry[]>((result, [key, value]) => {
    const isNamed = key.endsWith('topic.name') && (valueIn(result, key) ?? '') !== '';
    return isNamed ? result : withValue(result, key, value);
  }, entries);
}
