import { useState } from 'preact/hooks';
import type { LoggerLevelAnswer } from '../common/answers.ts';
import { inPath, request } from '../common/api.ts';
import { worker } from '../common/fleet-store.ts';
import { usePolled } from '../common/polled.ts';
import { Problem } from '../common/problem.tsx';
import { TitledTable } from '../common/titled-table.tsx';
import { texts } from '../texts/cluster.ts';

const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL', 'OFF'] as const;

/** The levels of loggers, which can be set for all workers at once. */
export function Loggers() {
  if (worker.value === undefined) return <p class="empty">{texts.loading}</p>;
  const { adminListeners } = worker.value;
  return adminListeners === undefined ? <Levels /> : <p class="empty">{texts.levelsElsewhere(adminListeners)}</p>;
}

function Levels() {
  const [changes, setChanges] = useState(0);
  const [problem, setProblem] = useState('');
  const [done, setDone] = useState('');
  const { value, error } = usePolled(`loggers ${String(changes)}`, () =>
    request<Readonly<Record<string, LoggerLevelAnswer>>>('GET', '/admin/loggers'),
  );
  const reason = problem === '' ? (error?.message ?? '') : problem;
  if (value === undefined && changes === 0) {
    return reason === '' ? <p class="empty">{texts.loading}</p> : <Problem text={reason} />;
  }
  const isWritable = worker.value?.readOnly === false;
  const set = async (logger: string, level: string): Promise<void> => {
    try {
      await request('PUT', `/admin/loggers/${inPath(logger)}?scope=cluster`, { level });
      setProblem('');
      setDone(texts.levelSet(logger, level));
    } catch (failure) {
      setDone('');
      setProblem((failure as Error).message);
    }
    setChanges(changes + 1);
  };
  return (
    <>
      <Problem text={reason} />
      {isWritable ? <p class="quiet">{texts.everyWorker}</p> : null}
      <p role="status">{done}</p>
      {isWritable ? <OtherLogger set={set} /> : null}
      <TitledTable label={texts.loggers} titles={[texts.logger, texts.level, texts.changed]}>
        {Object.entries(value ?? {}).map(([logger, { level, last_modified: changedAt }]) => (
          <tr key={logger}>
            <th scope="row">{logger}</th>
            <td>
              {isWritable ? (
                <LevelChoice label={texts.levelOf(logger)} level={level} set={(to) => set(logger, to)} />
              ) : (
                level
              )}
            </td>
            <td class="quiet">{changedAt === null ? '' : new Date(changedAt).toLocaleString()}</td>
          </tr>
        ))}
      </TitledTable>
    </>
  );
}

interface LevelChoiceProps {
  readonly label: string;
  readonly level: string;
  readonly set: (level: string) => unknown;
}

function LevelChoice({ label, level, set }: LevelChoiceProps) {
  return (
    <select aria-label={label} value={level} onChange={(event) => void set(event.currentTarget.value)}>
      {LEVELS.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
}

function OtherLogger({ set }: { readonly set: (logger: string, level: string) => Promise<void> }) {
  const [name, setName] = useState('');
  const [level, setLevel] = useState<string>('DEBUG');
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') void set(name.trim(), level);
      }}
    >
      <label>
        {texts.addLogger}
        <input
          type="search"
          class="logger-name"
          value={name}
          title={texts.addLoggerHint}
          placeholder="org.apache.kafka.connect"
          onInput={(event) => {
            setName(event.currentTarget.value);
          }}
        />
      </label>
      <LevelChoice label={texts.level} level={level} set={setLevel} />
      <button type="submit" disabled={name.trim() === ''}>
        {texts.set}
      </button>
    </form>
  );
}
