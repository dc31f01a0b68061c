import { useEffect, useState } from 'preact/hooks';
import type { Topics } from '../common/answers.ts';
import { inPath, request } from '../common/api.ts';
import { TextField } from '../kit/field.tsx';
import { useLoaded } from '../kit/loaded.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/editor.ts';

interface TopicPickerProps {
  readonly chosen: readonly string[];
  readonly onChange: (topics: readonly string[]) => void;
}

const PAUSE_MS = 200;

/** Lets the user choose topics of the Kafka cluster. The chosen ones are listed first. */
export function TopicPicker({ chosen, onChange }: TopicPickerProps) {
  const [text, setText] = useState('');
  const wanted = useSettled(text.trim(), PAUSE_MS);
  const load = () => request<Topics>('GET', `/ui/topics?text=${inPath(wanted)}`);
  const { value: found, error } = useLoaded('topics', load, { again: wanted });
  const shown = [...chosen, ...(found?.topics ?? []).filter((topic) => !chosen.includes(topic))];
  const more = found === undefined ? 0 : found.total - found.topics.length;
  const choose = (topic: string, isChosen: boolean): void => {
    const others = chosen.filter((each) => each !== topic);
    onChange(isChosen ? [...others, topic] : others);
  };
  return (
    <fieldset class="topics">
      <legend>{texts.topics}</legend>
      <TextField label={texts.topicFilter} type="search" value={text} onInput={setText} />
      <Problem text={error?.message ?? ''} />
      <div class="topic-list">
        {shown.map((topic) => (
          <label key={topic}>
            <input
              type="checkbox"
              checked={chosen.includes(topic)}
              onChange={({ currentTarget }) => choose(topic, currentTarget.checked)}
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

/** Returns the text with a delay, after it has not changed for `ms` milliseconds. */
function useSettled(text: string, ms: number): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), ms);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
