import { listEntries } from '../config/list-text.ts';
import type { OptionResult } from '../config/option.ts';
import { javaRegexMatcher } from '../java/java-regex.ts';

/** Checks rules that concern several options of a sink (SinkConnectorConfig.validate), and conflicts with the worker group. */
export function sinkConflicts(
  config: Readonly<Record<string, string | null>>,
  workerGroupId: string | undefined,
): OptionResult[] {
  const text = (name: string) => config[name]?.trim() ?? '';
  const topics = listEntries(config['topics']);
  const regex = text('topics.regex');
  const results = [
    ...topicConflicts(text('topics'), regex),
    ...deadLetterConflicts(text('errors.deadletterqueue.topic.name'), topics, regex),
  ];
  const group = config['consumer.override.group.id'];
  if (workerGroupId !== undefined && group === workerGroupId) {
    results.push(
      problem('consumer.override.group.id', `Consumer group ${group} conflicts with Connect worker group ${group}`),
    );
  } else if (workerGroupId !== undefined && group === undefined && `connect-${text('name')}` === workerGroupId) {
    const message = `Consumer group for sink connector named ${text('name')} conflicts with Connect worker group ${workerGroupId}`;
    results.push(problem('name', message));
  }
  return results;
}

function topicConflicts(topics: string, regex: string): OptionResult[] {
  let message = '';
  if (topics === '' && regex === '') message = 'Must configure one of topics or topics.regex';
  if (topics !== '' && regex !== '') {
    message = 'topics and topics.regex are mutually exclusive options, but both are set.';
  }
  return message === '' ? [] : ['topics', 'topics.regex'].map((name) => problem(name, message));
}

function deadLetterConflicts(topic: string, topics: readonly string[], regex: string): OptionResult[] {
  if (topic === '') return [];
  if (topics.includes(topic)) {
    const list = `[${topics.join(', ')}]`;
    const message = `The DLQ topic '${topic}' may not be included in the list of topics ('topics=${list}') consumed by the connector`;
    return [problem('topics', message)];
  }
  if (regex === '' || !matches(regex, topic)) return [];
  const message = `The DLQ topic '${topic}' may not be matched by the regex for the topics ('topics.regex=${regex}') consumed by the connector`;
  return [problem('topics.regex', message)];
}

/** Returns false for an invalid pattern, which is reported for its own option. */
function matches(regex: string, topic: string): boolean {
  try {
    return javaRegexMatcher(regex)(topic);
  } catch {
    return false;
  }
}

function problem(name: string, message: string): OptionResult {
  return { name, value: null, recommendedValues: [], errors: [message], visible: true };
}
