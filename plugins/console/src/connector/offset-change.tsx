import { useEffect, useRef, useState } from 'preact/hooks';
import type { OffsetsPreview } from '../common/answers.ts';
import { ApiError, connectorPath, requestText } from '../common/api.ts';
import { exactText, parseExact } from '../common/exact-json.ts';
import { useAction } from '../kit/action.ts';
import { SelectField, TextField } from '../kit/field.tsx';
import { Form } from '../kit/form.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/offsets.ts';
import { ApplyOffsets } from './offset-apply.tsx';
import { readOffset, writtenOffset, type OffsetEntry, type OffsetRow, type PlannedChange } from './offset-rows.ts';

interface OffsetChangeProps {
  readonly name: string;
  readonly isSink: boolean;
  readonly rows: readonly OffsetRow[];
  /** The record that the form proposes to skip, as `topic-partition@offset`. */
  readonly skip: string | undefined;
  /** Called when the user begins or ends to enter offsets or to look at a preview, during which the rows should not change. */
  readonly onEdited: (isEdited: boolean) => void;
}

type Choice = keyof typeof texts.choices;

interface ChangeForm {
  readonly choice: Choice;
  readonly time: string;
  /** Typed offsets, by the key of the row. */
  readonly given: ReadonlyMap<string, string>;
}

const CHOICES = Object.keys(texts.choices) as Choice[];
const MAX_GIVEN = 200;

/** Lets the user choose offsets, preview the effect, and set them. */
export function OffsetChange({ name, isSink, rows, skip, onEdited }: OffsetChangeProps) {
  const [form, setForm] = useState<ChangeForm>(() => formOf(skip));
  const [planned, setPlanned] = useState<PlannedChange | undefined>();
  const { isBusy, problem, report, run } = useAction();
  const { choice, time, given } = form;
  const change = (part: Partial<ChangeForm>): void => {
    setForm({ ...form, ...part });
    setPlanned(undefined);
    report('');
  };
  const preview = (): Promise<void> =>
    run(async () => {
      setPlanned(undefined);
      const target = targetOf(form, rows);
      setPlanned({ isReset: choice === 'all', preview: await previewOf(name, target) });
    });
  const isEdited = choice === 'given' || planned !== undefined;
  useEffect(() => {
    onEdited(isEdited);
    return () => onEdited(false);
  }, [isEdited]);
  useEffect(() => {
    if (skip !== undefined) void preview();
  }, []);
  return (
    <section>
      <h2>{texts.change}</h2>
      <Form class="form" onSubmit={preview}>
        <SelectField
          label={texts.from}
          value={choice}
          options={CHOICES}
          text={(each) => texts.choices[each]}
          onChange={(next) => change({ choice: next })}
        />
        {choice === 'time' ? (
          <TextField
            label={texts.time(Intl.DateTimeFormat().resolvedOptions().timeZone)}
            type="datetime-local"

            value={time}
            onInput={(next) => change({ time: next })}
          />
        ) : null}
        {choice === 'given' ? (
          <GivenOffsets
            rows={rows}
            isSink={isSink}
            given={given}
            onGiven={(key, text) => change({ given: new Map(given).set(key, text) })}
          />
        ) : null}
        <Problem text={problem} />
        <button type="submit" disabled={isBusy}>
          {isBusy ? texts.loading : texts.preview}
        </button>
      </Form>
      {planned === undefined ? null : <Outcome name={name} planned={planned} />}
    </section>
  );
}

/** The initial form. */
function formOf(skip: string | undefined): ChangeForm {
  const [, key = '', offset = ''] = /^(.+)@(\d+)$/.exec(skip ?? '') ?? [];
  if (key === '') return { choice: 'earliest', time: '', given: new Map() };
  return { choice: 'given', time: '', given: new Map([[key, String(BigInt(offset) + 1n)]]) };
}

/** Shows the preview, which gets the focus when it appears. */
function Outcome({ name, planned }: { readonly name: string; readonly planned: PlannedChange }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), [planned]);
  return (
    <div class="outcome">
      <h3 ref={title} tabIndex={-1}>
        {texts.previewed}
      </h3>
      <ApplyOffsets name={name} planned={planned} />
    </div>
  );
}

interface GivenOffsetsProps {
  readonly rows: readonly OffsetRow[];
  readonly isSink: boolean;
  readonly given: ReadonlyMap<string, string>;
  readonly onGiven: (key: string, text: string) => void;
}

function GivenOffsets({ rows, isSink, given, onGiven }: GivenOffsetsProps) {
  return (
    <>
      <p>{isSink ? texts.givenHint.sink : texts.givenHint.source}</p>
      {rows.slice(0, MAX_GIVEN).map(({ key, current }) => (
        <TextField
          key={key}
          label={texts.newOffset(key)}
          isWide
          inputMode={isSink ? 'numeric' : 'text'}
          value={given.get(key) ?? writtenOffset(current)}
          onInput={(text) => onGiven(key, text)}
        />
      ))}
      {rows.length > MAX_GIVEN ? <p>{texts.more(rows.length - MAX_GIVEN)}</p> : null}
    </>
  );
}

type Target = { readonly to: string } | { readonly time: number } | { readonly offsets: readonly OffsetEntry[] };

/**
 * Builds the request body of a preview.
 * @throws Error that names the invalid field
 */
function targetOf({ choice, time, given }: ChangeForm, rows: readonly OffsetRow[]): Target {
  if (choice === 'time') {
    const at = new Date(time).getTime();
    if (Number.isNaN(at)) throw new Error(texts.noTime);
    return { time: at };
  }
  if (choice === 'all') {
    const offsets = rows.map(({ partition }) => ({ partition, offset: null }));
    if (offsets.length === 0) throw new Error(texts.nothingSet);
    return { offsets };
  }
  if (choice !== 'given') return { to: choice };
  const offsets: OffsetEntry[] = [];
  for (const row of rows) {
    const text = given.get(row.key);
    if (text === undefined || text.trim() === writtenOffset(row.current)) continue;
    const entry = readOffset(text, row);
    if (entry === undefined) throw new Error(texts.noOffset(row.key));
    offsets.push(entry);
  }
  if (offsets.length === 0) throw new Error(texts.nothingGiven);
  return { offsets };
}

/**
 * Requests the preview. If the connector cannot preview explicit offsets, the result has these offsets without the
 * numbers of records, so that they can be set nevertheless.
 */
async function previewOf(name: string, target: Target): Promise<PlannedChange['preview']> {
  try {
    const text = await requestText('POST', `${connectorPath(name)}/offsets/preview`, exactText(target));
    return parseExact(text) as OffsetsPreview;
  } catch (error) {
    const isUnknown = error instanceof ApiError && error.status === 400 && 'offsets' in target;
    if (!isUnknown || !UNKNOWN.test(error.message)) throw error;
    const partitions = target.offsets.map((each) => ({ ...each, current: null, again: null, skipped: null }));
    return { note: texts.withoutCounts(error.message), partitions };
  }
}

const UNKNOWN = /does not say what|cannot be previewed/;
