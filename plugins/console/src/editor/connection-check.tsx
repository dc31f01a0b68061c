import { useEffect, useState } from 'preact/hooks';
import type { ConnectionFindings } from '../common/answers.ts';
import { inPath, request } from '../common/api.ts';
import { Button } from '../kit/button.tsx';
import { Async, useLoaded } from '../kit/loaded.tsx';
import { texts } from '../texts/editor.ts';
import { configBody, valueIn, type Entry } from './config-document.ts';
import {
  connectionKey,
  connectionProblems,
  connectionRemedy,
  connectionText,
  isConnectable,
} from './connection-findings.ts';
import type { Checked } from './edited-document.ts';

interface ConnectionCheckProps {
  readonly entries: readonly Entry[];
  readonly checked: Checked;
  /** The connector whose stored secrets are used; `undefined` for a new connector. */
  readonly connector: string | undefined;
}

/** Shows whether the connection works, as soon as the configuration is valid and whenever the options of the connection change. */
export function ConnectionCheck({ entries, checked, connector }: ConnectionCheckProps) {
  const key = connectionKey(entries);
  const isReady = !checked.isStale && isConnectable(checked.validation);
  const isExamined = useExamined(key, isReady);
  if (!isExamined) return null;
  return <Connection connectionKey={key} entries={entries} connector={connector} isReady={isReady} />;
}

/** Whether the configuration has been ready for a check since the options in `key` changed. */
export function useExamined(key: string, isReady: boolean): boolean {
  const [examined, setExamined] = useState('');
  useEffect(() => {
    if (isReady) setExamined(key);
  }, [isReady, key]);
  return examined === key;
}

interface ConnectionProps extends Pick<ConnectionCheckProps, 'entries' | 'connector'> {
  readonly connectionKey: string;
  /** Whether the connection can be checked again. */
  readonly isReady: boolean;
}

function Connection({ connectionKey: key, entries, connector, isReady }: ConnectionProps) {
  const query = connector === undefined ? '' : `?connector=${inPath(connector)}`;
  const path = `/ui/connector-plugins/${inPath(valueIn(entries, 'connector.class') ?? '')}/connection${query}`;
  const found = useLoaded(key, () => request<ConnectionFindings>('PUT', path, configBody(entries)));
  return (
    <div class="connection" role="status">
      <Async of={found} loading={<span class="quiet">{texts.checkingConnection}</span>}>
        {({ findings }) => <Findings findings={findings} isReady={isReady} again={found.reload} />}
      </Async>
    </div>
  );
}

interface FindingsProps extends ConnectionFindings, Pick<ConnectionProps, 'isReady'> {
  readonly again: () => void;
}

function Findings({ findings, isReady, again }: FindingsProps) {
  const text = connectionText(findings);
  if (text === undefined) return null;
  const remedy = connectionRemedy(findings);
  return (
    <>
      <p>
        {text} {remedy === undefined ? null : <code>{remedy}</code>}{' '}
        <Button class="link" disabled={!isReady} onClick={again}>
          {texts.checkAgain}
        </Button>
      </p>
      {connectionProblems(findings).map(({ level, about, message, remedy: fix }) => (
        <p key={`${about} ${message}`} class={level === 'fail' ? 'problem' : 'warning'}>
          {texts.finding(about, message)} {fix === undefined ? null : <code>{fix}</code>}
        </p>
      ))}
    </>
  );
}
