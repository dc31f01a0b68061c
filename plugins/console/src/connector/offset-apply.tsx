import { useEffect, useState } from 'preact/hooks';
import { connectorPath, request, requestText } from '../common/api.ts';
import { refresh } from '../common/fleet-store.ts';
import { Problem } from '../common/problem.tsx';
import { TitledTable } from '../common/titled-table.tsx';
import { texts } from '../texts/offsets.ts';
import { offsetText, partitionText, totals, type OffsetsPreview, type PlannedChange } from './offset-rows.ts';
import { stepsFrom, takeSteps, type ChangeReport, type Step } from './offset-steps.ts';

interface ApplyOffsetsProps {
  readonly name: string;
  readonly planned: PlannedChange;
  readonly onChanged: () => void;
}

const NOTHING_DONE: ChangeReport = { done: [], at: undefined, problem: undefined };

/** What a change comes to, the steps that it needs, and their progress. */
export function ApplyOffsets({ name, planned: { preview, isReset }, onChanged }: ApplyOffsetsProps) {
  const [leftOut, setLeftOut] = useState<ReadonlySet<string>>(new Set());
  const [state, setState] = useState<string | undefined>();
  const [problem, setProblem] = useState('');
  const [report, setReport] = useState<ChangeReport | undefined>();
  useEffect(() => {
    request<{ readonly connector: { readonly state: string } }>('GET', `${connectorPath(name)}/status`).then(
      ({ connector }) => {
        setState(connector.state);
      },
      (error: unknown) => {
        setProblem((error as Error).message);
      },
    );
  }, [name, preview]);
  const { again, skipped, entries } = totals(preview, leftOut);
  const steps = stepsFrom(state ?? 'RUNNING');
  const run = async (left: readonly Step[], before: readonly Step[] = []): Promise<void> => {
    const send = (method: string, path: string, json?: string) => requestText(method, connectorPath(name) + path, json);
    await takeSteps(left, isReset ? 'all' : entries, send, (each) => {
      setReport({ ...each, done: [...before, ...each.done] });
    });
    onChanged();
    await refresh().catch(() => undefined);
  };
  return (
    <>
      <p role="status">
        <strong>{texts.again(again)}</strong> <strong>{texts.skipped(skipped)}</strong>
      </p>
      <p class="hint">{preview.note}</p>
      <PreviewTable
        preview={preview}
        leftOut={leftOut}
        onLeftOut={isReset || report !== undefined ? undefined : setLeftOut}
      />
      <Problem text={problem} />
      {state === undefined || entries.length === 0 ? null : (
        <>
          <StepList steps={steps} report={report ?? NOTHING_DONE} count={isReset ? 'all' : entries.length} />
          {report === undefined ? (
            <Confirm
              name={name}
              label={applyText(steps)}
              mustType={isReset || skipped !== 0}
              onConfirm={() => void run(steps)}
            />
          ) : (
            <Ended steps={steps} report={report} onGoOn={(left, done) => void run(left, done)} />
          )}
        </>
      )}
    </>
  );
}

function applyText(steps: readonly Step[]): string {
  if (!steps.includes('stop')) return texts.apply.stopped;
  return steps.includes('pause') ? texts.apply.paused : texts.apply.ran;
}

const MAX_ROWS = 200;

interface PreviewTableProps {
  readonly preview: OffsetsPreview;
  readonly leftOut: ReadonlySet<string>;
  /** `undefined`: nothing can be left out. */
  readonly onLeftOut: ((leftOut: ReadonlySet<string>) => void) | undefined;
}

function PreviewTable({ preview: { partitions }, leftOut, onLeftOut }: PreviewTableProps) {
  const titles = [texts.partition, texts.position, texts.newPosition, texts.titleAgain, texts.titleSkipped];
  const count = (value: number | null) => value?.toLocaleString('en') ?? texts.unknown;
  const toggle = (key: string, isChosen: boolean): void => {
    const next = new Set(leftOut);
    if (isChosen) next.delete(key);
    else next.add(key);
    onLeftOut?.(next);
  };
  return (
    <div class="offsets">
      <TitledTable label={texts.previewed} titles={onLeftOut === undefined ? titles : [texts.include, ...titles]}>
        {partitions.slice(0, MAX_ROWS).map(({ partition, current, offset, again, skipped }) => {
          const key = partitionText(partition);
          return (
            <tr key={key}>
              {onLeftOut === undefined ? null : (
                <td class="choose">
                  <input
                    type="checkbox"
                    aria-label={texts.includeOf(key)}
                    checked={!leftOut.has(key)}
                    onChange={({ currentTarget }) => {
                      toggle(key, currentTarget.checked);
                    }}
                  />
                </td>
              )}
              <th scope="row">{key}</th>
              <td>{offsetText(current) ?? texts.beginning}</td>
              <td>{offsetText(offset) ?? texts.beginning}</td>
              <td>{count(again)}</td>
              <td>{count(skipped)}</td>
            </tr>
          );
        })}
      </TitledTable>
      {partitions.length > MAX_ROWS ? <p class="hint">{texts.more(partitions.length - MAX_ROWS)}</p> : null}
    </div>
  );
}

interface StepListProps {
  readonly steps: readonly Step[];
  readonly report: ChangeReport;
  readonly count: number | 'all';
}

function StepList({ steps, report, count }: StepListProps) {
  const stateOf = (step: Step): keyof typeof texts.stepStates => {
    if (report.done.includes(step)) return 'done';
    if (report.at !== step) return 'waiting';
    return report.problem === undefined ? 'now' : 'failed';
  };
  const textOf = (step: Step): string =>
    step === 'set' ? (count === 'all' ? texts.steps.setAll : texts.steps.set(count)) : texts.steps[step];
  return (
    <ol class="steps" aria-live="polite">
      {steps.map((step) => (
        <li key={step} data-state={stateOf(step)}>
          {textOf(step)} {report === NOTHING_DONE ? null : <small>{texts.stepStates[stateOf(step)]}</small>}
        </li>
      ))}
    </ol>
  );
}

interface ConfirmProps {
  readonly name: string;
  readonly label: string;
  readonly mustType: boolean;
  readonly onConfirm: () => void;
}

/** What loses records is asked for by name. */
function Confirm({ name, label, mustType, onConfirm }: ConfirmProps) {
  const [typed, setTyped] = useState('');
  return (
    <div class="form">
      {mustType ? (
        <label class="wide-field">
          {texts.typeName(name)}
          <input
            type="text"
            autoComplete="off"
            value={typed}
            onInput={({ currentTarget }) => {
              setTyped(currentTarget.value);
            }}
          />
        </label>
      ) : null}
      <button type="button" class="primary" disabled={mustType && typed !== name} onClick={onConfirm}>
        {label}
      </button>
    </div>
  );
}

interface EndedProps {
  readonly steps: readonly Step[];
  readonly report: ChangeReport;
  readonly onGoOn: (left: readonly Step[], done: readonly Step[]) => void;
}

/** The end of it, or what holds where it broke off and how to go on. */
function Ended({ steps, report: { done, at, problem }, onGoOn }: EndedProps) {
  if (at === undefined) return <p role="status">{done.includes('set') ? texts.finished : texts.notSet}</p>;
  if (problem === undefined) return null;
  const wasStopped = done.includes('stop');
  const holds = at === 'set' ? (wasStopped ? texts.failures.set.stopped : texts.failures.set.was) : texts.failures[at];
  const after = steps.slice(steps.indexOf(at));
  return (
    <>
      <Problem text={problem} />
      <p>{holds}</p>
      <div class="bulk">
        <button
          type="button"
          onClick={() => {
            onGoOn(after, done);
          }}
        >
          {texts.tryAgain}
        </button>
        {at === 'set' && wasStopped ? (
          <button
            type="button"
            onClick={() => {
              onGoOn(steps.slice(-1), done);
            }}
          >
            {steps.includes('pause') ? texts.pauseNow : texts.resumeNow}
          </button>
        ) : null}
      </div>
    </>
  );
}
