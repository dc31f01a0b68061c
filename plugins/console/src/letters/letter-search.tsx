import { useState } from 'preact/hooks';
import type { WholeLetter } from '../common/answers.ts';
import { Problem } from '../common/problem.tsx';
import { texts } from '../texts/letters.ts';
import { letterAt, LetterView } from './letter-view.tsx';

/** One letter by its place in the topic. */
export function LetterSearch({ name }: { readonly name: string }) {
  const [partition, setPartition] = useState('0');
  const [offset, setOffset] = useState('');
  const [letter, setLetter] = useState<WholeLetter | undefined>();
  const [problem, setProblem] = useState('');
  const find = async (): Promise<void> => {
    setLetter(undefined);
    setProblem('');
    if (![partition, offset].every((text) => /^\d{1,15}$/.test(text.trim()))) {
      setProblem(texts.givePlace);
      return;
    }
    try {
      setLetter(await letterAt(name, Number(partition), Number(offset)));
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <details class="further">
      <summary>{texts.find}</summary>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void find();
        }}
      >
        <div class="row">
          <label>
            {texts.partition}
            <input
              type="text"
              inputMode="numeric"
              size={6}
              value={partition}
              onInput={({ currentTarget }) => {
                setPartition(currentTarget.value);
              }}
            />
          </label>
          <label>
            {texts.offset}
            <input
              type="text"
              inputMode="numeric"
              size={14}
              value={offset}
              onInput={({ currentTarget }) => {
                setOffset(currentTarget.value);
              }}
            />
          </label>
          <button type="submit">{texts.findIt}</button>
        </div>
        <Problem text={problem} />
      </form>
      {letter === undefined ? null : <LetterView name={name} letter={letter} />}
    </details>
  );
}
