import type { InternalTopicsAnswer } from '../common/answers.ts';
import { request } from '../common/api.ts';
import { bytesText } from '../common/bytes-text.ts';
import { usePolled } from '../common/polled.ts';
import { Problem } from '../common/problem.tsx';
import { TitledTable } from '../common/titled-table.tsx';
import { texts } from '../texts/cluster.ts';
import { topicProblems } from './topic-problems.ts';

/** The topics in which the group keeps its state, and what is wrong with them. */
export function InternalTopics() {
  const { value, error } = usePolled('topics', () => request<InternalTopicsAnswer>('GET', '/ui/internal-topics'));
  const problem = error === undefined ? '' : error.status === 404 ? texts.standalone : error.message;
  if (value === undefined) return problem === '' ? <p class="empty">{texts.loading}</p> : <Problem text={problem} />;
  const titles = [texts.topic, texts.partitions, texts.replicas, texts.policy, texts.size, texts.noted];
  return (
    <>
      <Problem text={problem} />
      <TitledTable
        label={texts.partTitles.topics}
        titles={titles}
        numbers={[texts.partitions, texts.replicas, texts.size]}
      >
        {value.topics.map((topic) => (
          <TopicRow key={topic.property} topic={topic} brokers={value.brokers} />
        ))}
      </TitledTable>
    </>
  );
}

function TopicRow({
  topic,
  brokers,
}: {
  readonly topic: InternalTopicsAnswer['topics'][number];
  readonly brokers: number;
}) {
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
