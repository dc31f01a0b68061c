import { useState } from 'preact/hooks';
import type { LoggerLevelAnswer } from '../common/answers.ts';
import { inPath, request } from '../common/api.ts';
import { isWritable, worker } from '../common/fleet-store.ts';
import { useAction } from '../kit/action.ts';
import { Select, TextField } from '../kit/field.tsx';
import { Form } from '../kit/form.tsx';
import { Async, usePolled } from '../kit/loaded.tsx';
import { Problem } from '../kit/problem.tsx';
import { Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { texts } from '../texts/cluster.ts';

type FoundLevels = Readonly<Record<string, LoggerLevelAnswer>>;
type SetLevel = (logger: string, level: string) => unknown;

const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL', 'OFF'];

/** The levels of loggers, which can be set for all workers at once. */
export function Loggers() {
  if (worker.value === undefined) return <p class="empty">{texts.loading}</p>;
  const { adminListeners } = worker.value;
  return adminListeners === undefined ? <Levels /> : <p class="empty">{texts.levelsElsewhere(adminListeners)}</p>;
}

function Levels() {
  const loaded = usePolled('loggers', () => request<FoundLevels>('GET', '/admin/loggers'));
  const { problem, run } = useAction();
  const [done, setDone] = useState('');
  const set = async (logger: string, level: string): Promise<void> => {
    setDone('');
    await run(async () => {
      await request('PUT', `/admin/loggers/${inPath(logger)}?scope=cluster`, { level });
      setDone(texts.levelSet(logger, level));
    });
    loaded.reload();
  };
  return (
    <>
      <Problem text={problem} />
      <Async of={loaded}>
        {(levels) => (
          <>
            {isWritable.value ? <p class="quiet">{texts.everyWorker}</p> : null}
            <p role="status">{done}</p>
            {isWritable.value ? <OtherLogger set={set} /> : null}
            <LevelTable levels={levels} set={set} />
          </>
        )}
      </Async>
    </>
  );
}

function LevelTable({ levels, set }: { readonly levels: FoundLevels; readonly set: SetLevel }) {
  return (
    <Table label={texts.loggers} titles={[texts.logger, texts.level, texts.changed]}>
      {Object.entries(levels).map(([logger, { level, last_modified: changedAt }]) => (
        <tr key={logger}>
          <th scope="row">{logger}</th>
          <td>
            {isWritable.value ? (
              <Select
                aria-label={texts.levelOf(logger)}
                value={level}
                options={LEVELS}
                onChange={(to) => set(logger, to)}
              />
            ) : (
              level
            )}
          </td>
          <td class="quiet">{changedAt === null ? '' : <Time at={changedAt} />}</td>
        </tr>
      ))}
    </Table>
  );
}

function OtherLogger({ set }: { readonly set: SetLevel }) {
  const [name, setName] = useState('');
  const [level, setLevel] = useState('DEBUG');
  const logger = name.trim();
  return (
    <Form class="filters" onSubmit={() => logger !== '' && set(logger, level)}>
      <TextField
        label={texts.addLogger}
        type="search"
        class="logger-name"
        title={texts.addLoggerHint}
        placeholder="org.apache.kafka.connect"
        value={name}
        onInput={setName}
      />
      <Select aria-label={texts.level} value={level} options={LEVELS} onChange={setLevel} />
      <button type="submit" disabled={logger === ''}>
        {texts.set}
      </button>
    </Form>
  );
}
