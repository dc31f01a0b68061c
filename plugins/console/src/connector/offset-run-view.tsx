import { useEffect, useRef } from 'preact/hooks';
import type { ConnectorStateAnswer } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { Button } from '../kit/button.tsx';
import { usePolled } from '../kit/loaded.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/offsets.ts';
import { forgetOffsetRun, runOffsetSteps, type OffsetRun } from './offset-run.ts';
import type { ChangeReport, Step } from './offset-steps.ts';

const NOTHING_DONE: ChangeReport = { done: [], at: undefined, problem: undefined };

interface OffsetRunViewProps {
  readonly name: string;
  readonly run: OffsetRun;
}

/** Shows the progress of a change of offsets. If a step failed, it also shows the current state and how to continue. */
export function OffsetRunView({ name, run }: OffsetRunViewProps) {
  const { steps, change, report } = run;
  const title = useRef<HTMLHeadingElement>(null);
  // If the pressed button has disappeared, and the focus with it, the title gets the focus.
  useEffect(() => {
    if (document.activeElement === document.body) title.current?.focus();
  }, [report.problem]);
  const isSet = report.done.includes('set');
  return (
    <section class="outcome">
      <h2 ref={title} tabIndex={-1}>
        {texts.underWay}
      </h2>
      <StepList steps={steps} report={report} count={change === 'all' ? 'all' : change.length} />
      {report.at === undefined ? <p role="status">{isSet ? texts.finished : texts.notSet}</p> : null}
      {report.at === undefined || report.problem === undefined ? null : (
        <BrokenOff name={name} run={run} at={report.at} problem={report.problem} />
      )}
    </section>
  );
}

interface BrokenOffProps extends OffsetRunViewProps {
  readonly at: Step;
  readonly problem: string;
}

function BrokenOff({ name, run, at, problem }: BrokenOffProps) {
  const { steps, report } = run;
  const last = steps.at(-1);
  // The state is polled, because tasks may still be stopping.
  const { value: status, error } = usePolled(`${name} ${at}`, () =>
    request<ConnectorStateAnswer>('GET', `${connectorPath(name)}/status`),
  );
  const state = error === undefined ? status?.connector.state : undefined;
  const isLooking = status === undefined && error === undefined;
  const mayGoBack = (at === 'stop' || at === 'set') && steps.includes('stop') && (state ?? 'STOPPED') === 'STOPPED';
  return (
    <>
      <Problem text={problem} />
      <p role="status">
        <strong>{isLooking ? texts.loading : texts.stateNow(state)}</strong> {texts.offsetsNow[at]}
      </p>
      <div class="bulk">
        <Button onClick={() => runOffsetSteps(name, run, steps.slice(steps.indexOf(at)), report.done)}>
          {texts.tryAgain}
        </Button>
        {mayGoBack && last !== undefined ? (
          <Button onClick={() => runOffsetSteps(name, run, [last], report.done)}>
            {last === 'pause' ? texts.pauseNow : texts.resumeNow}
          </Button>
        ) : null}
        <Button onClick={() => forgetOffsetRun(name)}>{texts.leaveIt}</Button>
      </div>
    </>
  );
}

interface StepListProps {
  readonly steps: readonly Step[];
  /** The progress; absent before the first step. */
  readonly report?: ChangeReport;
  readonly count: number | 'all';
}

export function StepList({ steps, report = NOTHING_DONE, count }: StepListProps) {
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
