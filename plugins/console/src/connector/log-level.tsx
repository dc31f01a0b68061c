import { useState } from 'preact/hooks';
import type { ConnectorLevel } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { worker } from '../common/fleet-store.ts';
import { minutesText } from '../common/format.ts';
import { usePolled } from '../common/polled.ts';
import { texts } from '../texts/log.ts';
import { useNow } from '../common/now.ts';

const LEVELS = ['DEBUG', 'TRACE'] as const;
const MINUTES = [1, 5, 15, 60] as const;

interface LevelSwitchProps {
  readonly name: string;
  readonly report: (problem: string) => void;
}

/** Makes the connector log more for some minutes; the worker ends it by itself. */
export function LevelSwitch(props: LevelSwitchProps) {
  if (worker.value === undefined) return null;
  const { adminListeners } = worker.value;
  if (adminListeners !== undefined) return <p class="quiet">{texts.levelsElsewhere(adminListeners)}</p>;
  return <LevelForm {...props} />;
}

function LevelForm({ name, report }: LevelSwitchProps) {
  const path = `/ui${connectorPath(name)}/log-level`;
  const [sent, setSent] = useState(0);
  const [choice, setChoice] = useState({ level: 'DEBUG', minutes: 5 });
  const { value: found } = usePolled(`${name} ${String(sent)}`, async () => {
    const level = await request<ConnectorLevel>('GET', path);
    return { level: level.level, until: Date.now() + level.remainingMs };
  });
  const now = useNow(typeof found?.level === 'string');
  const set = async (level: string | null): Promise<void> => {
    try {
      const body = level === null ? { level } : { level, minutes: choice.minutes };
      const { unreached = [] } = await request<ConnectorLevel>('PUT', path, body);
      const reasons = unreached.map(({ worker: each, reason }) => `${each} (${reason})`);
      report(reasons.length === 0 ? '' : texts.levelUnreached(reasons.join(', ')));
      setSent((count) => count + 1);
    } catch (problem) {
      report((problem as Error).message);
    }
  };
  const isWritable = worker.value?.readOnly === false;
  if (typeof found?.level === 'string') {
    const { level, until } = found;
    return (
      <p class="level" role="status">
        <strong>{texts.levelIs(level)}</strong>{' '}
        <span class="quiet" aria-hidden="true">
          {texts.levelEnds(minutesText(until - now))}
        </span>{' '}
        {isWritable ? (
          <button type="button" onClick={() => void set(null)}>
            {texts.levelEnd}
          </button>
        ) : null}
      </p>
    );
  }
  if (!isWritable) return null;
  return (
    <form
      class="level"
      onSubmit={(event) => {
        event.preventDefault();
        void set(choice.level);
      }}
    >
      <label>
        {texts.levelLabel}{' '}
        <select
          value={choice.level}
          onChange={({ currentTarget: { value } }) => {
            setChoice({ ...choice, level: value });
          }}
        >
          {LEVELS.map((level) => (
            <option key={level}>{level}</option>
          ))}
        </select>
      </label>
      <label>
        {texts.levelFor}{' '}
        <select
          value={choice.minutes}
          onChange={({ currentTarget: { value } }) => {
            setChoice({ ...choice, minutes: Number(value) });
          }}
        >
          {MINUTES.map((minutes) => (
            <option key={minutes} value={minutes}>
              {texts.minutes(minutes)}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">{texts.levelStart}</button>
    </form>
  );
}
