import type { Ref } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { DeadLetterGroup, PreviewedDeadLettersAnswer, ReplayAnswer } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { useAction } from '../kit/action.ts';
import { Button } from '../kit/button.tsx';
import { SelectField, TextField } from '../kit/field.tsx';
import { Form } from '../kit/form.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/dead-letters.ts';
import { faultText } from './dead-letter-record.ts';
import {
  EVERYTHING,
  restKey,
  selectionBody,
  type RestOfReplay,
  type SelectionBody,
  type SelectionForm,
} from './selection-form.ts';
import { outcomeText, PreviewedRecords } from './previewed-records.tsx';
import { SelectionFields } from './selection-fields.tsx';

/**
 * The records that the user has chosen to replay. `round` increases with each choice, so that choosing the same group again also resets
 * the form.
 */
export interface Chosen {
  readonly group: string;
  readonly rest?: RestOfReplay;
  /** The replay is previewed at once, and the button that starts it gets the focus. */
  readonly isPreviewed?: boolean;
  readonly round: number;
}

interface ReplayFormProps {
  readonly name: string;
  readonly groups: readonly DeadLetterGroup[];
  readonly chosen: Chosen;
  readonly onStarted: () => void;
}

const DEFAULT_RATE = '1000';
const MAX_RATE = 10_000_000;
const MAX_TITLE = 160;

/** A form in which the user chooses records, previews a replay, and starts it. */
export function ReplayForm({ name, groups, chosen, onStarted }: ReplayFormProps) {
  const [form, setForm] = useState<SelectionForm>(EVERYTHING);
  const [rate, setRate] = useState(DEFAULT_RATE);
  const [started, setStarted] = useState('');
  const [preview, setPreview] = useState<PreviewedDeadLettersAnswer | undefined>();
  const { isBusy, problem, report, run } = useAction();
  const select = useRef<HTMLSelectElement>(null);
  const startButton = useRef<HTMLButtonElement>(null);
  const path = `${connectorPath(name)}/dead-letters`;
  const change = (next: SelectionForm): void => {
    setForm(next);
    setPreview(undefined);
    setStarted('');
    report('');
  };
  const look = (wanted: SelectionForm): Promise<void> =>
    run(async () => {
      setStarted('');
      const body = bodyOf(wanted, chosen.rest);
      setPreview(undefined);
      setPreview(await request<PreviewedDeadLettersAnswer>('POST', `${path}/preview`, body));
    });
  const start = (): Promise<void> =>
    run(async () => {
      const body = { ...bodyOf(form, chosen.rest), rate: rateOf(rate) };
      const { id } = await request<ReplayAnswer>('POST', `${path}/replay`, body);
      setPreview(undefined);
      setStarted(texts.started(id));
      onStarted();
    });
  useEffect(() => {
    if (chosen.round === 0) return;
    const next = { ...EVERYTHING, group: chosen.group };
    change(next);
    select.current?.focus();
    if (chosen.isPreviewed === true) void look(next);
  }, [chosen.round]);
  useEffect(() => {
    // The user may have moved the focus while the preview was loading.
    const isFocused = document.activeElement === select.current;
    if (chosen.isPreviewed === true && isFocused && preview !== undefined && !isBusy) startButton.current?.focus();
  }, [preview, isBusy]);
  return (
    <>
      <h2>{texts.replay}</h2>
      <p class="quiet">{texts.replayHint}</p>
      <Form class="form" onSubmit={() => look(form)}>
        <GroupField
          groups={groups}
          rest={chosen.rest}
          value={form.group}
          selectRef={select}
          onChange={(group) => change({ ...form, group })}
        />
        <SelectionFields form={form} onChange={change} />
        <TextField label={texts.rate} inputMode="numeric" size={12} value={rate} onInput={setRate} />
        <Problem text={problem} />
        <div class="row">
          <button type="submit" disabled={isBusy}>
            {texts.preview}
          </button>
          <Button
            class="primary"
            buttonRef={startButton}
            disabled={isBusy || (preview?.records.length ?? 0) === 0}
            onClick={start}
          >
            {texts.start}
          </Button>
          {preview === undefined && started === '' ? <p>{texts.previewFirst}</p> : null}
        </div>
        <p role="status">{preview === undefined ? started : outcomeText(preview)}</p>
      </Form>
      {preview === undefined ? null : <PreviewedRecords records={preview.records} />}
    </>
  );
}

interface GroupFieldProps {
  readonly groups: readonly DeadLetterGroup[];
  readonly rest: RestOfReplay | undefined;
  readonly value: string;
  readonly selectRef: Ref<HTMLSelectElement>;
  readonly onChange: (group: string) => void;
}

/** The choice between all records, the remaining records of a stopped or failed replay, and the records of a group. */
function GroupField({ groups, rest, value, selectRef, onChange }: GroupFieldProps) {
  const titles = new Map(groups.map((group) => [group.id, `${String(group.count)} · ${faultText(group)}`]));
  if (rest !== undefined) titles.set(restKey(rest), texts.restOf(rest.id));
  const ids = groups.map(({ id }) => id);
  return (
    <SelectField
      label={texts.which}
      value={value}
      none={texts.all}
      options={rest === undefined ? ids : [restKey(rest), ...ids]}
      text={(id) => titles.get(id)?.slice(0, MAX_TITLE) ?? id}
      selectRef={selectRef}
      onChange={onChange}
    />
  );
}

/** @throws Error that names the invalid field */
function bodyOf(form: SelectionForm, rest: RestOfReplay | undefined): SelectionBody {
  const body = selectionBody(form, rest);
  if ('problem' in body) throw new Error(texts.problems[body.problem]);
  return body;
}

/** @throws Error if the rate is invalid */
function rateOf(text: string): number {
  const rate = Number(text);
  if (!Number.isInteger(rate) || rate < 1 || rate > MAX_RATE) throw new Error(texts.problems.rate);
  return rate;
}
