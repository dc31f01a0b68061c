import { useState } from 'preact/hooks';
import type { ConnectorStateAnswer } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { isWritable } from '../common/fleet-store.ts';
import { hints } from '../common/route.ts';
import { Button } from '../kit/button.tsx';
import { TextField } from '../kit/field.tsx';
import { useLoaded } from '../kit/loaded.tsx';
import { Problem } from '../kit/problem.tsx';
import { Table } from '../kit/table.tsx';
import { texts } from '../texts/offsets.ts';
import { offsetText, partitionText, totals, type PlannedChange } from './offset-rows.ts';
import { runOffsetSteps } from './offset-run.ts';
import { StepList } from './offset-run-view.tsx';
import { stepsFrom, type Step } from './offset-steps.ts';

interface ApplyOffsetsProps {
  readonly name: string;
  readonly planned: PlannedChange;
}

/** Shows the effect of a planned change of offsets and the steps that apply it. */
export function ApplyOffsets({ name, planned: { preview, isReset } }: ApplyOffsetsProps) {
  const [leftOut, setLeftOut] = useState<ReadonlySet<string>>(new Set());
  const { value: status, error } = useLoaded(
    name,
    () => request<ConnectorStateAnswer>('GET', `${connectorPath(name)}/status`),
    { again: preview },
  );
  const state = status?.connector.state;
  const { again, skipped, entries } = totals(preview, leftOut);
  const steps = stepsFrom(state ?? 'RUNNING');
  const change = isReset ? 'all' : entries;
  return (
    <>
      <p role="status">
        <strong>{texts.again(again)}</strong> <strong>{texts.skipped(skipped)}</strong>
      </p>
      <p class="hint">{preview.note}</p>
      <PreviewTable preview={preview} leftOut={leftOut} onLeftOut={isReset ? undefined : setLeftOut} />
      <Problem text={error?.message ?? ''} />
      {state === undefined || entries.length === 0 || !isWritable.value ? null : (
        <>
          <StepList steps={steps} count={change === 'all' ? 'all' : change.length} />
          <Confirm
            name={name}
            label={applyText(steps)}
            mustType={isReset || skipped === null || skipped > 1}
            onConfirm={() => void runOffsetSteps(name, { steps, change, skip: hints.value['skip'] }, steps)}
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
  /** Called with the partitions that the user leaves out; `undefined` if partitions cannot be left out. */
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
      <Table label={texts.previewed} titles={onLeftOut === undefined ? titles : [texts.include, ...titles]}>
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
      </Table>
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

/**
 * The confirmation. `mustType`: the user must type the name of the connector, because the change may skip several
 * records or removes all offsets.
 */
function Confirm({ name, label, mustType, onConfirm }: ConfirmProps) {
  const [typed, setTyped] = useState('');
  return (
    <div class="form">
      {mustType ? (
        <TextField label={texts.typeName(name)} isWide autocomplete="off" value={typed} onInput={setTyped} />
      ) : null}
      <Button class="primary" disabled={mustType && typed !== name} onClick={onConfirm}>
        {label}
      </Button>
    </div>
  );
}
