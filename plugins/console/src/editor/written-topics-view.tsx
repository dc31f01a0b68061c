import type { WrittenTopicsAnswer } from '../common/answers.ts';
import { inPath, request } from '../common/api.ts';
import { Button } from '../kit/button.tsx';
import { Async, useLoaded } from '../kit/loaded.tsx';
import { texts } from '../texts/editor.ts';
import { configBody, valueIn, type Entry } from './config-document.ts';
import { isConnectable } from './connection-findings.ts';
import { useExamined } from './connection-check.tsx';
import type { Checked } from './edited-document.ts';
import { topicsKey, topicSentences, withTopicCreation } from './written-topics.ts';

interface WrittenTopicsProps {
  readonly entries: readonly Entry[];
  readonly checked: Checked;
  readonly change: (entries: readonly Entry[]) => void;
}

/** Shows the topics that a new source will write, and whether the missing ones will be created, as soon as the configuration is valid. */
export function WrittenTopics({ entries, checked, change }: WrittenTopicsProps) {
  const key = topicsKey(entries);
  const isExamined = useExamined(key, !checked.isStale && isConnectable(checked.validation));
  return isExamined ? <Topics topicsKey={key} entries={entries} change={change} /> : null;
}

interface TopicsProps extends Pick<WrittenTopicsProps, 'entries' | 'change'> {
  readonly topicsKey: string;
}

function Topics({ topicsKey: key, entries, change }: TopicsProps) {
  const path = `/ui/connector-plugins/${inPath(valueIn(entries, 'connector.class') ?? '')}/topics`;
  const found = useLoaded(key, () => request<WrittenTopicsAnswer>('PUT', path, configBody(entries)));
  return (
    <div class="written-topics" role="status">
      <Async of={found} loading={<span class="quiet">{texts.checkingTopics}</span>}>
        {(answer) => {
          const sentences = topicSentences(answer);
          if (sentences === undefined) return null;
          const { text, problem, maySolve = false } = sentences;
          return (
            <>
              <p>{text}</p>
              {problem === undefined ? null : (
                <p class="problem">
                  {problem}{' '}
                  {maySolve ? (
                    <Button onClick={() => change(withTopicCreation(entries))}>{texts.createTopics}</Button>
                  ) : null}
                </p>
              )}
            </>
          );
        }}
      </Async>
    </div>
  );
}
