import { useEffect, useRef, useState } from 'preact/hooks';
import type { OffsetsPreview } from '../common/answers.ts';
import { ApiError, connectorPath, requestText } from '../common/api.ts';
import { exactText, parseExact } from '../common/exact-json.ts';
import { Problem } from '../common/problem.tsx';
import { texts } from '../texts/offsets.ts';
import { ApplyOffsets } from './offset-apply.tsx';
import { readOffset, writtenOffset, type OffsetEntry, type OffsetRow, type PlannedChange } from './offset-rows.ts';

interface OffsetChangeProps {
  readonly name: string;
  readonly isSink: boolean;
  readonly rows: readonly OffsetRow[];
}

type Choice = keyof typeof texts.choices;

const CHOICES = Object.keys(texts.choices) as Choice[];
const MAX_GIVEN = 200;

/** Other offsets: chosen, previewed, then set. */
export function OffsetChange({ name, isSink, rows }: OffsetChangeProps) {
  const [choice, setChoice] = useState<Choice>('earliest');
  const [time, setTime] = useState('');
  const [given, setGiven] = useState<ReadonlyMap<string, string>>(new Map());
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [planned, setPlanned] = useState<PlannedChange | undefined>();
  const changed = (): void => {
    setPlanned(undefined);
    setProblem('');
  };
  const preview = async (): Promise<void> => {
    changed();
    const target = targetOf(choice, { time, given, rows });
    if (typeof target === 'string') {
      setProblem(target);
      return;
    }
    setBusy(true);
    try {
      setPlanned({ isReset: choice === 'all', preview: await previewOf(name, target) });
    } catch (error) {
      setProblem((error as Error).message);
    }
    setBusy(false);
  };
  return (
    <section>
      <h2>{texts.change}</h2>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void preview();
        }}
      >
        <label>
          {texts.from}
          <select
            value={choice}
            onChange={({ currentTarget }) => {
              setChoice(currentTarget.value as Choice);
              changed();
            }}
          >
            {CHOICES.map((each) => (
              <option key={each} value={each}>
                {texts.choices[each]}
              </option>
            ))}
          </select>
        </label>
        {choice === 'time' ? (
          <label>
            {texts.time(Intl.DateTimeFormat().resolvedOptions().timeZone)}
            <input
              type="datetime-local"
              step="1"
              value={time}
              onInput={({ currentTarget }) => {
                setTime(currentTarget.value);
                changed();
              }}
            />
          </label>
        ) : null}
        {choice === 'given' ? (
          <GivenOffsets
            rows={rows}
            isSink={isSink}
            given={given}
            onGiven={(key, text) => {
              setGiven(new Map(given).set(key, text));
              changed();
            }}
          />
        ) : null}
        <Problem text={problem} />
        <button type="submit" disabled={isBusy}>
          {isBusy ? texts.loading : texts.preview}
        </button>
      </form>
      {planned === undefined ? null : <Outcome name={name} planned={planned} />}
    </section>
  );
}

/** What would happen; has the focus when it comes. */
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
        <label key={key} class="wide-field">
          {texts.newOffset(key)}
          <input
            type="text"
            inputMode={isSink ? 'numeric' : 'text'}
            value={given.get(key) ?? writtenOffset(current)}
            onInput={({ currentTarget }) => {
              onGiven(key, currentTarget.value);
            }}
          />
        </label>
      ))}
      {rows.length > MAX_GIVEN ? <p>{texts.more(rows.length - MAX_GIVEN)}</p> : null}
    </>
  );
}

interface Given {
  readonly time: string;
  readonly given: ReadonlyMap<string, string>;
  readonly rows: readonly OffsetRow[];
}

type Target = { readonly to: string } | { readonly time: number } | { readonly offsets: readonly OffsetEntry[] };

/** The body of a preview, or what is wrong with what was given. */
function targetOf(choice: Choice, { time, given, rows }: Given): Target | string {
  if (choice === 'time') {
    const at = new Date(time).getTime();
    return Number.isNaN(at) ? texts.noTime : { time: at };
  }
  if (choice === 'all') {
    const offsets = rows.map(({ partition }) => ({ partition, offset: null }));
    return offsets.length === 0 ? texts.nothingSet : { offsets };
  }
  if (choice !== 'given') return { to: choice };
  const offsets: OffsetEntry[] = [];
  for (const row of rows) {
    const text = given.get(row.key);
    if (text === undefined || text.trim() === writtenOffset(row.current)) continue;
    const entry = readOffset(text, row);
    if (entry === undefined) return texts.noOffset(row.key);
    offsets.push(entry);
  }
  return offsets.length === 0 ? texts.nothingGiven : { offsets };
}

/** Offsets that were given can be set also where the connector does not say what they come to. */
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
