import type { InternalTopicsAnswer } from '../common/answers.ts';
import { request } from '../common/api.ts';
import { bytesText } from '../common/bytes-text.ts';
import { Async, usePolled } from '../kit/loaded.tsx';
import { Table } from '../kit/table.tsx';
import { texts } from '../texts/cluster.ts';
import { topicProblems } from './topic-problems.ts';

const TITLES = [texts.topic, texts.partitions, texts.replicas, texts.policy, texts.size, texts.noted];
const NUMBERS = [texts.partitions, texts.replicas, texts.size];

/** The topics in which the group keeps its state, and their problems. */
export function InternalTopics() {
  const loaded = usePolled('topics', () => request<InternalTopicsAnswer>('GET', '/ui/internal-topics'));
  const { error } = loaded;
  return (
    <Async of={loaded} problem={error?.status === 404 ? texts.standalone : error?.message}>
      {({ topics, brokers }) => (
        <Table label={texts.partTitles.topics} titles={TITLES} numbers={NUMBERS}>
          {topics.map((topic) => (
            <TopicRow key={topic.property} topic={topic} brokers={brokers} />
          ))}
        </Table>
      )}
    </Async>
  );
}

interface TopicRowProps {
  readonly topic: InternalTopicsAnswer['topics'][number];
  readonly brokers: number;
}

function TopicRow({ topic, brokers }: TopicRowProps) {
  const { name, property, state, partitions, replicas, cleanupPolicy, bytes } = topic;
  const problems = topicProblems(topic, brokers);
  const isThere = state === 'exists';
  return (
    <tr>
      <th scope="row">
        {name}
        <small class="below">{property}</small>
      </th>
      <td class="number">{isThere ? partitions : '–'}</td>
      <td class="number">{isThere ? replicas : '–'}</td>
      <td>{cleanupPolicy ?? (isThere ? texts.unknown : '–')}</td>
      <td class="number nowrap">{bytes === null ? '–' : bytesText(bytes)}</td>
      <td class="wrong">
        {problems.length === 0 ? (
          <span class="quiet">{texts.fine}</span>
        ) : (
          problems.map((problem) => (
            <p key={problem} class="warning">
              {problem}
            </p>
          ))
        )}
      </td>
    </tr>
  );
}
