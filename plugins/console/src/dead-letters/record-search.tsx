import { useState } from 'preact/hooks';
import type { WholeDeadLetter } from '../common/answers.ts';
import { useAction } from '../kit/action.ts';
import { TextField } from '../kit/field.tsx';
import { Form } from '../kit/form.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/dead-letters.ts';
import { recordAt, RecordView } from './record-view.tsx';

/** A form that shows one dead-letter record by its partition and offset in the topic. */
export function RecordSearch({ name }: { readonly name: string }) {
  const [partition, setPartition] = useState('0');
  const [offset, setOffset] = useState('');
  const [deadLetter, setDeadLetter] = useState<WholeDeadLetter | undefined>();
  const { problem, run } = useAction();
  const find = (): Promise<void> =>
    run(async () => {
      setDeadLetter(undefined);
      if (![partition, offset].every((text) => /^\d{1,15}$/.test(text.trim()))) throw new Error(texts.givePlace);
      setDeadLetter(await recordAt(name, Number(partition), Number(offset)));
    });
  return (
    <details class="further">
      <summary>{texts.find}</summary>
      <Form class="form" onSubmit={find}>
        <div class="row">
          <TextField label={texts.partition} inputMode="numeric" size={6} value={partition} onInput={setPartition} />
          <TextField label={texts.offset} inputMode="numeric" size={14} value={offset} onInput={setOffset} />
          <button type="submit">{texts.findIt}</button>
        </div>
        <Problem text={problem} />
      </Form>
      {deadLetter === undefined ? null : <RecordView name={name} deadLetter={deadLetter} />}
    </details>
  );
}
