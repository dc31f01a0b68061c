import { useEffect, useRef, useState } from 'preact/hooks';
import type { LetterGroup, PreviewedLetters as PreviewedLettersAnswer, ReplayAnswer } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { Problem } from '../common/problem.tsx';
import { texts } from '../texts/letters.ts';
import { faultText } from './letter.ts';
import { EVERYTHING, restKey, selectionBody, type RestOfReplay, type SelectionForm } from './letter-selection.ts';
import { outcomeText, PreviewedLetters } from './previewed-letters.tsx';
import { SelectionFields } from './selection-fields.tsx';

/** What somebody has chosen to be replayed; another number chooses anew. */
export interface Chosen {
  readonly group: string;
  readonly rest?: RestOfReplay;
  readonly round: number;
}

interface ReplayFormProps {
  readonly name: string;
  readonly groups: readonly LetterGroup[];
  readonly chosen: Chosen;
  readonly onStarted: () => void;
}

const DEFAULT_RATE = '1000';
const MAX_RATE = 10_000_000;

/** Letters are chosen, previewed, then replayed. */
export function ReplayForm({ name, groups, chosen, onStarted }: ReplayFormProps) {
  const [form, setForm] = useState<SelectionForm>(EVERYTHING);
  const [rate, setRate] = useState(DEFAULT_RATE);
  const [problem, setProblem] = useState('');
  const [report, setReport] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [preview, setPreview] = useState<PreviewedLettersAnswer | undefined>();
  const select = useRef<HTMLSelectElement>(null);
  const path = `${connectorPath(name)}/dead-letters`;
  const change = (next: SelectionForm): void => {
    setForm(next);
    setPreview(undefined);
    setProblem('');
    setReport('');
  };
  useEffect(() => {
    if (chosen.round === 0) return;
    change({ ...EVERYTHING, group: chosen.group });
    select.current?.focus();
  }, [chosen.round]);
  const send = async (work: (body: object) => Promise<void>): Promise<void> => {
    const body = selectionBody(form, chosen.rest);
    setReport('');
    if ('problem' in body) {
      setProblem(texts.problems[body.problem]);
      return;
    }
    setProblem('');
    setBusy(true);
    try {
      await work(body);
    } catch (error) {
      setProblem((error as Error).message);
    }
    setBusy(false);
  };
  const look = (): Promise<void> =>
    send(async (body) => {
      setPreview(undefined);
      setPreview(await request<PreviewedLettersAnswer>('POST', `${path}/preview`, body));
    });
  const start = (): Promise<void> =>
    send(async (body) => {
      const perSecond = Number(rate);
      if (!Number.isInteger(perSecond) || perSecond < 1 || perSecond > MAX_RATE) throw new Error(texts.problems.rate);
      const { id } = await request<ReplayAnswer>('POST', `${path}/replay`, { ...body, rate: perSecond });
      setPreview(undefined);
      setReport(texts.started(id));
      onStarted();
    });
  return (
    <>
      <h2>{texts.replay}</h2>
      <p class="quiet">{texts.replayHint}</p>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void look();
        }}
      >
        <label>
          {texts.which}
          <select
            ref={select}
            value={form.group}
            onChange={({ currentTarget }) => {
              change({ ...form, group: currentTarget.value });
            }}
          >
            <option value="">{texts.all}</option>
            {chosen.rest === undefined ? null : (
              <option value={restKey(chosen.rest)}>{texts.restOf(chosen.rest.id)}</option>
            )}
            {groups.map((group) => (
              <option key={group.id} value={group.id}>
                {`${String(group.count)} · ${faultText(group)}`.slice(0, 160)}
              </option>
            ))}
          </select>
        </label>
        <SelectionFields form={form} onChange={change} />
        <label>
          {texts.rate}
          <input
            type="text"
            inputMode="numeric"
            size={12}
            value={rate}
            onInput={({ currentTarget }) => {
              setRate(currentTarget.value);
            }}
          />
        </label>
        <Problem text={problem} />
        <div class="row">
          <button type="submit" disabled={isBusy}>
            {texts.preview}
          </button>
          <button
            type="button"
            class="primary"
            disabled={isBusy || preview === undefined || preview.records.length === 0}
            onClick={() => void start()}
          >
            {texts.start}
          </button>
          {preview === undefined && report === '' ? <p>{texts.previewFirst}</p> : null}
        </div>
        <p role="status">{preview === undefined ? report : outcomeText(preview)}</p>
      </form>
      {preview === undefined ? null : <PreviewedLetters records={preview.records} />}
    </>
  );
}
