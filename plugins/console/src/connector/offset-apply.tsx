import { useEffect, useState } from 'preact/hooks';
import type { ConnectorStateAnswer } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { worker } from '../common/fleet-store.ts';
import { Problem } from '../common/problem.tsx';
import { TitledTable } from '../common/titled-table.tsx';
import { texts } from '../texts/offsets.ts';
import { offsetText, partitionText, totals, type PlannedChange } from './offset-rows.ts';
import { runOffsetSteps } from './offset-run.ts';
import { StepList } from './offset-run-view.tsx';
import { stepsFrom, type Step } from './offset-steps.ts';

interface ApplyOffsetsProps {
  readonly name: string;
  readonly planned: PlannedChange;
}

/** What a change comes to, and the steps that it needs. */
export function ApplyOffsets({ name, planned: { preview, isReset } }: ApplyOffsetsProps) {
  const [leftOut, setLeftOut] = useState<ReadonlySet<string>>(new Set());
  const [state, setState] = useState<string | undefined>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    request<ConnectorStateAnswer>('GET', `${connectorPath(name)}/status`).then(
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
  const change = isReset ? 'all' : entries;
  const isReadOnly = worker.value?.readOnly !== false;
  return (
    <>
      <p role="status">
        <strong>{texts.again(again)}</strong> <strong>{texts.skipped(skipped)}</strong>
      </p>
      <p class="hint">{preview.note}</p>
      <PreviewTable preview={preview} leftOut={leftOut} onLeftOut={isReset ? undefined : setLeftOut} />
      <Problem text={problem} />
      {state === undefined || entries.length === 0 || isReadOnly ? null : (
        <>
          <StepList steps={steps} count={change === 'all' ? 'all' : change.length} />
          <Confirm
            name={name}
            label={applyText(steps)}
            mustType={isReset || skipped !== 0}
            onConfirm={() => void runOffsetSteps(name, { steps, change }, steps)}
          />
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
  readonly preview: PlannedChange['preview'];
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
