import { useEffect, useState } from 'preact/hooks';
import type { PluginInfo } from '../common/answers.ts';
import { request } from '../common/api.ts';
import { DeletedFold } from '../common/deleted-fold.tsx';
import { refresh, worker } from '../common/fleet-store.ts';
import { shortClass } from '../common/format.ts';
import { Problem } from '../common/problem.tsx';
import { connectorAddress, CREATE_ADDRESS } from '../common/route.ts';
import { setUnfinished } from '../common/unfinished.ts';
import { texts } from '../texts/editor.ts';
import { configBody, valueIn, withoutKey, withValue, type Entry } from './config-document.ts';
import { withheldTexts } from './config-form.ts';
import { DocumentEditor } from './document-editor.tsx';
import { useDocument, useValidation } from './edited-document.ts';
import { MessagePreview } from './message-preview.tsx';
import { TopicPicker } from './topic-picker.tsx';

const STATES = ['RUNNING', 'PAUSED', 'STOPPED'] as const;
const ORDER = ['name', 'connector.class', 'tasks.max', 'topics'];
const CLASS_HINT = 'class-hint';
/** The worker takes it for a value that is stored; here none is. */
const MARK = '[hidden]';

/** A connector from nothing: its class, its topics, its options, and what it would do. */
export function CreateView() {
  const [plugins, setPlugins] = useState<readonly PluginInfo[]>([]);
  const [problem, setProblem] = useState('');
  const [round, setRound] = useState(0);
  useEffect(() => {
    request<readonly PluginInfo[]>('GET', '/connector-plugins').then(setPlugins, (error: unknown) => {
      setProblem((error as Error).message);
    });
  }, []);
  if (worker.value?.readOnly === true) return <p class="empty">{texts.readOnlyCreate}</p>;
  return (
    <>
      <h1>{texts.newConnector}</h1>
      <Problem text={problem} />
      <NewConnector
        key={round}
        plugins={plugins}
        again={() => {
          setRound(round + 1);
        }}
      />
      <DeletedFold />
    </>
  );
}

interface NewDraft {
  readonly entries: readonly Entry[];
  readonly text: string | undefined;
  readonly state: string;
}

const NO_DRAFT: NewDraft = { entries: [], text: undefined, state: 'RUNNING' };
/** What was typed when the view was left; in the memory of the page alone, as it may have a secret. */
let draft = NO_DRAFT;

function keep(next: NewDraft): boolean {
  draft = next;
  const isUnfinished = next.entries.length > 1 || next.text !== undefined;
  setUnfinished({ address: CREATE_ADDRESS, title: texts.newConnector }, isUnfinished);
  return isUnfinished;
}

function NewConnector({ plugins, again }: { readonly plugins: readonly PluginInfo[]; readonly again: () => void }) {
  const edited = useDocument(draft.entries, draft.text);
  const checked = useValidation(edited.entries, undefined);
  const [isTried, setTried] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [state, setState] = useState(draft.state);
  const [problem, setProblem] = useState('');
  const { entries, text, change } = edited;
  const [isUnfinished, setUnfinishedHere] = useState(false);
  useEffect(() => {
    setUnfinishedHere(keep({ entries, text, state }));
  }, [entries, text, state]);
  const className = valueIn(entries, 'connector.class') ?? '';
  const plugin = plugins.find((each) => each.class === className);
  const isWrong = edited.parsed !== undefined && edited.parsed.problems.length > 0;
  const withheld = withheldTexts(checked.validation?.withheld);
  const create = async (): Promise<void> => {
    setTried(true);
    setProblem('');
    const wrong = checked.validation?.configs.some(({ value }) => value.errors.length > 0) ?? true;
    if (wrong) {
      setProblem(texts.notCreated);
      return;
    }
    setBusy(true);
    try {
      const name = valueIn(entries, 'name') ?? '';
      await request('POST', '/ui/connectors', { name, config: configBody(entries), initial_state: state });
      keep(NO_DRAFT);
      await refresh().catch(() => undefined);
      location.hash = connectorAddress(name);
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <div class="filters">
        <label>
          {texts.class}
          <select
            value={className}
            disabled={isWrong}
            aria-describedby={isWrong ? CLASS_HINT : undefined}
            onChange={({ currentTarget }) => {
              change(withValue(entries, 'connector.class', currentTarget.value, ORDER));
            }}
          >
            <option value="" disabled>
              {texts.chooseClass}
            </option>
            <Classes plugins={plugins} type="sink" label={texts.sinks} />
            <Classes plugins={plugins} type="source" label={texts.sources} />
          </select>
        </label>
        {isWrong ? (
          <span id={CLASS_HINT} class="quiet hint">
            {texts.classKept}
          </span>
        ) : null}
      </div>
      {className === '' ? (
        <p class="empty">{texts.chooseFirst}</p>
      ) : (
        <>
          {plugin?.type === 'sink' && !isWrong ? (
            <TopicPicker
              chosen={(valueIn(entries, 'topics') ?? '').split(',').flatMap((topic) => topic.trim() || [])}
              onChange={(topics) => {
                const isNone = topics.length === 0;
                change(isNone ? withoutKey(entries, 'topics') : withValue(entries, 'topics', topics.join(','), ORDER));
              }}
            />
          ) : null}
          {withheld === undefined ? null : <p role="status">{texts.withheld(...withheld)}</p>}
          <DocumentEditor
            document={edited}
            checked={checked}
            stored={[]}
            order={ORDER}
            mark={MARK}
            showsMissing={isTried}
            isReadOnly={false}
          />
          {plugin?.type === 'sink' ? <MessagePreview entries={entries} /> : null}
          <div class="bulk saving">
            <label>
              {texts.initialState}{' '}
              <select
                value={state}
                onChange={({ currentTarget }) => {
                  setState(currentTarget.value);
                }}
              >
                {STATES.map((each) => (
                  <option key={each} value={each}>
                    {texts.initialStates[each]}
                  </option>
                ))}
              </select>
            </label>
            <button
              type="button"
              class="primary"
              disabled={isBusy || isWrong || checked.isStale}
              onClick={() => void create()}
            >
              {isBusy ? texts.creating : texts.createNow}
            </button>
            {isUnfinished ? (
              <button
                type="button"
                disabled={isBusy}
                onClick={() => {
                  keep(NO_DRAFT);
                  again();
                }}
              >
                {texts.discardNew}
              </button>
            ) : null}
            {isUnfinished ? <span class="quiet">{texts.draftKept}</span> : null}
          </div>
          <Problem text={problem} />
        </>
      )}
    </>
  );
}

function Classes({ plugins, type, label }: { plugins: readonly PluginInfo[]; type: string; label: string }) {
  const found = plugins.filter((plugin) => plugin.type === type);
  return (
    <optgroup label={label}>
      {[...new Map(found.map((plugin) => [plugin.class, plugin])).values()].map(({ class: className }) => (
        <option key={className} value={className}>
          {shortClass(className)}
        </option>
      ))}
    </optgroup>
  );
}
