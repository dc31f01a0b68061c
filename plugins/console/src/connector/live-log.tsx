import { useEffect, useRef, useState } from 'preact/hooks';
import type { LogPart } from '../common/answers.ts';
import { connectorPath } from '../common/api.ts';
import { CopyButton } from '../common/copy-button.tsx';
import { exactClock } from '../common/time.ts';
import { Button } from '../kit/button.tsx';
import { SelectField, TextField } from '../kit/field.tsx';
import { texts } from '../texts/log.ts';
import type { PartProps } from './health.ts';
import './live-log.css';
import { LevelSwitch } from './log-level.tsx';
import { asText, LOG_LEVELS, placeOf, shownLines, withLines, type LogLevel, type PlacedLine } from './log-lines.ts';

interface Followed {
  readonly lines: readonly PlacedLine[];
  readonly isCut: boolean;
  readonly silent: readonly string[];
  readonly isLost: boolean;
}

const RETRY_MS = 5000;
const MAX_SHOWN = 500;

/** Shows the log of the connector, and appends new lines as they arrive. */
export function LiveLog({ name, health }: PartProps) {
  const followed = useLog(name);
  const [held, setHeld] = useState<readonly PlacedLine[] | undefined>(undefined);
  const [text, setText] = useState('');
  const [level, setLevel] = useState<LogLevel>('TRACE');
  const lines = held ?? followed.lines;
  const shown = shownLines(lines, level, text);
  const seen = new Set(held);
  const waiting = held === undefined ? 0 : followed.lines.filter((line) => !seen.has(line)).length;
  const workers = [...new Set(health.tasks.map(({ worker }) => worker))].filter((worker) => worker !== '');
  return (
    <section>
      <LevelSwitch name={name} />
      <div class="filters">
        <TextField label={texts.filter} type="search" value={text} onInput={setText} />
        <SelectField label={texts.from} value={level} options={LOG_LEVELS} text={texts.orGraver} onChange={setLevel} />
        <Button onClick={() => setHeld(held === undefined ? followed.lines : undefined)}>
          {held === undefined ? texts.hold : texts.resume(waiting)}
        </Button>
        <CopyButton text={asText(shown)} label={texts.copyShown} />
      </div>
      <p class="quiet" role="status">
        {stateText(followed, workers)}
      </p>
      <Lines lines={shown.slice(-MAX_SHOWN)} isAnyThere={lines.length > 0} hasWorkers={workers.length > 1} />
      <p class="quiet">{texts.shown(Math.min(shown.length, MAX_SHOWN), lines.length)}</p>
    </section>
  );
}

function stateText({ isLost, isCut, silent }: Followed, workers: readonly string[]): string {
  return [
    isLost ? texts.lostLog : '',
    silent.length === 0 ? '' : texts.silentLog(silent.join(', ')),
    isCut ? texts.cut : '',
    workers.length < 2 ? '' : texts.ofWorkers(workers.join(', ')),
  ]
    .filter((text) => text !== '')
    .join(' ');
}

interface LinesProps {
  readonly lines: readonly PlacedLine[];
  readonly isAnyThere: boolean;
  readonly hasWorkers: boolean;
}

/** The log lines, the newest last. The list scrolls to a new line unless the user has scrolled up. */
function Lines({ lines, isAnyThere, hasWorkers }: LinesProps) {
  const place = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (place.current !== null && isAtEnd.current) place.current.scrollTop = place.current.scrollHeight;
  }, [lines]);
  return (
    <div
      class="log"
      ref={place}
      role="region"
      tabIndex={0}
      aria-label={texts.log}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 8;
      }}
    >
      {lines.length === 0 ? <p class="empty">{isAnyThere ? texts.noMatch : texts.noLines}</p> : null}
      <ol>
        {lines.map((line) => (
          <Line key={`${line.worker} ${String(line.number)}`} line={line} hasWorker={hasWorkers} />
        ))}
      </ol>
    </div>
  );
}

function Line({ line, hasWorker }: { readonly line: PlacedLine; readonly hasWorker: boolean }) {
  const end = line.text.indexOf('\n');
  const first = end < 0 ? line.text : line.text.slice(0, end);
  const places = [hasWorker ? line.worker : '', placeOf(line)].filter((each) => each !== '').join(' ');
  const head = (
    <>
      {places === '' ? '' : <span class="quiet">{places}</span>} {first}
    </>
  );
  return (
    <li>
      <time class="quiet" dateTime={new Date(line.at).toISOString()} title={line.logger}>
        {timeText(line.at)}
      </time>
      <span class={line.level.toLowerCase()}>{line.level}</span>
      <span class="text">
        {end < 0 ? (
          head
        ) : (
          <details>
            <summary>{head}</summary>
            <pre>{line.text.slice(end + 1)}</pre>
          </details>
        )}
      </span>
    </li>
  );
}

function timeText(at: number): string {
  const date = new Date(at);
  return exactClock(date);
}

function useLog(name: string): Followed {
  const [found, setFound] = useState<Followed>({ lines: [], isCut: false, silent: [], isLost: false });
  useEffect(() => {
    let events: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const open = (): void => {
      events = new EventSource(`/ui${connectorPath(name)}/log`);
      events.onopen = () => {
        setFound((last) => ({ ...last, isLost: false }));
      };
      events.addEventListener('lines', ({ data }: MessageEvent<string>) => {
        const { worker, isCut, lines } = JSON.parse(data) as LogPart & { readonly worker: string };
        setFound((last) => ({
          ...last,
          lines: withLines(last.lines, worker, lines),
          isCut: last.isCut || isCut,
          isLost: false,
        }));
      });
      events.addEventListener('silent', ({ data }: MessageEvent<string>) => {
        const { workers } = JSON.parse(data) as { workers: readonly string[] };
        setFound((last) => ({ ...last, silent: workers }));
      });
      events.onerror = () => {
        setFound((last) => ({ ...last, isLost: true }));
        events?.close();
        timer = setTimeout(open, RETRY_MS);
      };
    };
    open();
    return () => {
      events?.close();
      clearTimeout(timer);
    };
  }, [name]);
  return found;
}
