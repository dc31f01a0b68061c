import { useState } from 'preact/hooks';
import type { ConnectorLevel } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { isWritable, worker } from '../common/fleet-store.ts';
import { minutesText } from '../common/format.ts';
import { useNow } from '../common/now.ts';
import { useAction } from '../kit/action.ts';
import { Button } from '../kit/button.tsx';
import { SelectField } from '../kit/field.tsx';
import { Form } from '../kit/form.tsx';
import { usePolled } from '../kit/loaded.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/log.ts';

const LEVELS = ['DEBUG', 'TRACE'];
const MINUTES = ['1', '5', '15', '60'];

/** Sets the log level of the connector to DEBUG or TRACE for some minutes. The worker resets the level automatically. */
export function LevelSwitch({ name }: { readonly name: string }) {
  if (worker.value === undefined) return null;
  const { adminListeners } = worker.value;
  if (adminListeners !== undefined) return <p class="quiet">{texts.levelsElsewhere(adminListeners)}</p>;
  return <OwnLevel name={name} />;
}

type SetLevel = (level: string | null, minutes?: number) => Promise<void>;

function OwnLevel({ name }: { readonly name: string }) {
  const path = `/ui${connectorPath(name)}/log-level`;
  const { problem, report, run } = useAction();
  const { value: found, reload } = usePolled(name, async () => {
    const { level, remainingMs } = await request<ConnectorLevel>('GET', path);
    return { level, until: Date.now() + remainingMs };
  });
  const set: SetLevel = (level, minutes) =>
    run(async () => {
      const { unreached = [] } = await request<ConnectorLevel>('PUT', path, { level, minutes });
      const reasons = unreached.map(({ worker: each, reason }) => `${each} (${reason})`);
      if (reasons.length > 0) report(texts.levelUnreached(reasons.join(', ')));
      reload();
    });
  return (
    <>
      {typeof found?.level === 'string' ? (
        <PresentLevel level={found.level} until={found.until} set={set} />
      ) : isWritable.value ? (
        <LevelForm set={set} />
      ) : null}
      <Problem text={problem} />
    </>
  );
}

interface PresentLevelProps {
  readonly level: string;
  /** The time at which the worker resets the level, in milliseconds of this machine's clock. */
  readonly until: number;
  readonly set: SetLevel;
}

function PresentLevel({ level, until, set }: PresentLevelProps) {
  const now = useNow();
  return (
    <p class="level" role="status">
      <strong>{texts.levelIs(level)}</strong>{' '}
      <span class="quiet" aria-hidden="true">
        {texts.levelEnds(minutesText(until - now))}
      </span>{' '}
      {isWritable.value ? <Button onClick={() => set(null)}>{texts.levelEnd}</Button> : null}
    </p>
  );
}

function LevelForm({ set }: { readonly set: SetLevel }) {
  const [level, setLevel] = useState('DEBUG');
  const [minutes, setMinutes] = useState('5');
  return (
    <Form class="level" onSubmit={() => set(level, Number(minutes))}>
      <SelectField label={texts.levelLabel} value={level} options={LEVELS} onChange={setLevel} />
      <SelectField
        label={texts.levelFor}
        value={minutes}
        options={MINUTES}
        text={(each) => texts.minutes(Number(each))}
        onChange={setMinutes}
      />
      <button type="submit">{texts.levelStart}</button>
    </Form>
  );
}
