import type { WrittenTopicsAnswer } from '../common/answers.ts';
import { texts } from '../texts/editor.ts';
import { withValue, type Entry } from './config-document.ts';

/** Maximum number of topics that a sentence names. */
const MAX_NAMED = 3;

/** Options with which the source creates missing topics. -1: the default of the brokers. */
const CREATION = { 'topic.creation.default.partitions': '-1', 'topic.creation.default.replication.factor': '-1' };

export function withTopicCreation(entries: readonly Entry[]): readonly Entry[] {
  return Object.entries(CREATION).reduce<readonly Entry[]>((all, [key, value]) => withValue(all, key, value), entries);
}

/** The options that determine the topics, as text. The topics are examined again when they change. */
export function topicsKey(entries: readonly Entry[]): string {
  const keys =
    /^(?:connector\.class$|connection\.|database\.|schema\.|table\.|topic|query|mode$|read\.method$|out\.format$|transforms)|\.column\.name$|^producer\.override\./;
  return JSON.stringify(entries.filter(([key]) => keys.test(key)));
}

interface TopicSentences {
  /** Where the source writes, and what becomes of missing topics. */
  readonly text: string;
  /** Why the source would send nothing; `undefined` if it can write to all topics. */
  readonly problem?: string;
  /** True if `topic.creation.…` may solve the problem. */
  readonly maySolve?: boolean;
}

/** Describes the topics of a new source to the user. Returns `undefined` if the topics are unknown. */
export function topicSentences(answer: WrittenTopicsAnswer): TopicSentences | undefined {
  const { topics, total, creation, problem, isCreationEnabled } = answer;
  if (topics.length === 0) return undefined;
  const writes = texts.writesTo(
    named(
      topics.map(({ name }) => name),
      total,
    ),
  );
  const missing = topics.flatMap(({ name, state }) => (state === 'missing' ? [name] : []));
  if (missing.length === 0) {
    const denied = topics.flatMap(({ name, state }) => (state === 'denied' ? [name] : []));
    const state = denied.length === 0 ? texts.topicsExist(total) : texts.topicsDenied(named(denied, denied.length));
    return { text: `${writes} ${state}` };
  }
  const absent = texts.topicsMissing(
    missing.length === topics.length ? undefined : named(missing, missing.length),
    missing.length,
  );
  if (creation === 'source' && problem === undefined) return { text: `${writes} ${absent} ${texts.sourceCreates}` };
  if (creation === 'source') return { text: writes, problem: `${absent} ${texts.sourceCannot(problem ?? '')}` };
  if (creation === 'brokers') return { text: `${writes} ${absent} ${texts.brokersCreate}` };
  const why = creation === 'nobody' ? texts.nobodyCreates : texts.perhapsCreated;
  const how = isCreationEnabled ? '' : ` ${texts.createFirst}`;
  return { text: writes, problem: `${absent} ${why}${how}`, maySolve: isCreationEnabled };
}

function named(names: readonly string[], total: number): string {
  const shown = names.slice(0, MAX_NAMED);
  return total > shown.length ? texts.andMore(shown.join(', '), total - shown.length) : shown.join(', ');
}
