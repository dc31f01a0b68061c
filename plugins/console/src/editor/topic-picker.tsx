import { useEffect, useState } from 'preact/hooks';
import type { Topics } from '../common/answers.ts';
import { inPath, request } from '../common/api.ts';
import { Problem } from '../common/problem.tsx';
import { texts } from '../texts/editor.ts';

interface TopicPickerProps {
  readonly chosen: readonly string[];
  readonly onChange: (topics: readonly string[]) => void;
}

const PAUSE_MS = 200;

/** Topics of the cluster, those chosen first. */
export function TopicPicker({ chosen, onChange }: TopicPickerProps) {
  const [text, setText] = useState('');
  const [found, setFound] = useState<Topics | undefined>(undefined);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(() => {
      request<Topics>('GET', `/ui/topics?text=${inPath(text.trim())}`).then(
        (answer) => {
          if (!isCurrent) return;
          setFound(answer);
          setProblem('');
        },
        (error: unknown) => {
          if (isCurrent) setProblem((error as Error).message);
        },
      );
    }, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text]);
  const shown = [...chosen, ...(found?.topics ?? []).filter((topic) => !chosen.includes(topic))];
  const more = found === undefined ? 0 : found.total - found.topics.length;
  return (
    <fieldset class="topics">
      <legend>{texts.topics}</legend>
      <label>
        {texts.topicFilter}
        <input
          type="search"
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
          }}
        />
      </label>
      <Problem text={problem} />
      <div class="topic-list">
        {shown.map((topic) => (
          <label key={topic}>
            <input
              type="checkbox"
              checked={chosen.includes(topic)}
              onChange={({ currentTarget }) => {
                const others = chosen.filter((each) => each !== topic);
                onChange(currentTarget.checked ? [...others, topic] : others);
              }}
            />
            {topic}
          </label>
        ))}
        {found?.total === 0 ? <p class="quiet">{text === '' ? texts.noTopicsNext : texts.noTopics}</p> : null}
        {more > 0 ? <p class="quiet">{texts.moreTopics(more)}</p> : null}
      </div>
    </fieldset>
  );
}
