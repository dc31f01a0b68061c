import { useEffect, useState } from 'preact/hooks';
import type { ConsoleValidation, PluginInfo } from '../common/answers.ts';
import { request } from '../common/api.ts';
import { DeletedFold } from '../common/deleted-fold.tsx';
import { refresh, worker } from '../common/fleet-store.ts';
import { shortClass } from '../common/format.ts';
import { connectorAddress, CREATE_ADDRESS } from '../common/route.ts';
import { setUnfinished } from '../common/unfinished.ts';
import { useAction } from '../kit/action.ts';
import { Button } from '../kit/button.tsx';
import { SelectField } from '../kit/field.tsx';
import { useLoaded } from '../kit/loaded.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/editor.ts';
import { configBody, topicsIn, valueIn, withoutKey, withValue, type Entry } from './config-document.ts';
import { withheldTexts } from './config-form.ts';
import { DocumentEditor } from './document-editor.tsx';
import { useDocument, useValidation, type EditedDocument } from './edited-document.ts';
import { MessagePreview } from './message-preview.tsx';
import { TopicPicker } from './topic-picker.tsx';

const STATES = ['RUNNING', 'PAUSED', 'STOPPED'] as const;
type State = (typeof STATES)[number];

const ORDER = ['name', 'connector.class', 'tasks.max', 'topics'];
const CLASS_HINT = 'class-hint';
/** The worker's placeholder for a stored value; a new connector has none. */
const MARK = '[hidden]';

/** A new connector: its class, its topics, its options, and a preview. */
export function CreateView() {
  const { value: plugins = [], error } = useLoaded('plugins', () =>
    request<readonly PluginInfo[]>('GET', '/connector-plugins'),
  );
  const [round, setRound] = useState(0);
  if (worker.value?.readOnly === true) return <p class="empty">{texts.readOnlyCreate}</p>;
  return (
    <>
      <h1>{texts.newConnector}</h1>
      <Problem text={error?.message ?? ''} />
      <NewConnector key={round} plugins={plugins} again={() => setRound(round + 1)} />
      <DeletedFold />
    </>
  );
}

interface NewDraft {
  readonly entries: readonly Entry[];
  readonly text: string | undefined;
  readonly state: State;
}

const NO_DRAFT: NewDraft = { entries: [], text: undefined, state: 'RUNNING' };
/** The draft when the view was left. It is kept only in the memory of the page, because it may contain secrets. */
let draft = NO_DRAFT;

function keep(next: NewDraft): boolean {
  draft = next;
  const isUnfinished = next.entries.length > 1 || next.text !== undefined;
  setUnfinished({ address: CREATE_ADDRESS, title: texts.newConnector }, isUnfinished);
  return isUnfinished;
}

interface NewConnectorProps {
  readonly plugins: readonly PluginInfo[];
  /** Starts with an empty document. */
  readonly again: () => void;
}

function NewConnector({ plugins, again }: NewConnectorProps) {
  const edited = useDocument(draft.entries, draft.text);
  const checked = useValidation(edited.entries, undefined);
  const [isTried, setTried] = useState(false);
  const [state, setState] = useState(draft.state);
  const [isUnfinished, setUnfinishedHere] = useState(false);
  const { isBusy, problem, run } = useAction();
  const { entries, text, isWrong } = edited;
  useEffect(() => {
    setUnfinishedHere(keep({ entries, text, state }));
  }, [entries, text, state]);
  const className = valueIn(entries, 'connector.class') ?? '';
  const isSink = plugins.find((each) => each.class === className)?.type === 'sink';
  const withheld = withheldTexts(checked.validation?.withheld);
  const create = (): Promise<void> => {
    setTried(true);
    return run(() => createConnector(entries, state, checked.validation));
  };
  const discard = (): void => {
    keep(NO_DRAFT);
    again();
  };
  return (
    <>
      <ClassField plugins={plugins} document={edited} className={className} />
      {className === '' ? (
        <p class="empty">{texts.chooseFirst}</p>
      ) : (
        <>
          {isSink && !isWrong ? <Topics document={edited} /> : null}
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
          {isSink ? <MessagePreview entries={entries} /> : null}
          <div class="bulk saving">
            <StateField state={state} onChange={setState} />
            <Button class="primary" disabled={isBusy || isWrong || checked.isStale} onClick={create}>
              {isBusy ? texts.creating : texts.createNow}
            </Button>
            {isUnfinished ? (
              <>
                <Button disabled={isBusy} onClick={discard}>
                  {texts.discardNew}
                </Button>
                <span class="quiet">{texts.draftKept}</span>
              </>
            ) : null}
          </div>
          <Problem text={problem} />
        </>
      )}
    </>
  );
}

/** Creates the connector and shows it. */
async function createConnector(
  entries: readonly Entry[],
  state: State,
  validation: ConsoleValidation | undefined,
): Promise<void> {
  const isWrong = validation?.configs.some(({ value }) => value.errors.length > 0) ?? true;
  if (isWrong) throw new Error(texts.notCreated);
  const name = valueIn(entries, 'name') ?? '';
  await request('POST', '/ui/connectors', { name, config: configBody(entries), initial_state: state });
  keep(NO_DRAFT);
  await refresh().catch(() => undefined);
  location.hash = connectorAddress(name);
}

interface ClassFieldProps {
  readonly plugins: readonly PluginInfo[];
  readonly document: EditedDocument;
  readonly className: string;
}

function ClassField({ plugins, document: { entries, isWrong, change }, className }: ClassFieldProps) {
  return (
    <div class="filters">
      <SelectField
        label={texts.class}
        value={className}
        options={[]}
        disabled={isWrong}
        aria-describedby={isWrong ? CLASS_HINT : undefined}
        onChange={(chosen) => change(withValue(entries, 'connector.class', chosen, ORDER))}
      >
        <option value="" disabled>
          {texts.chooseClass}
        </option>
        <Classes plugins={plugins} type="sink" label={texts.sinks} />
        <Classes plugins={plugins} type="source" label={texts.sources} />
      </SelectField>
      {isWrong ? (
        <span id={CLASS_HINT} class="quiet hint">
          {texts.classKept}
        </span>
      ) : null}
    </div>
  );
}

interface ClassesProps {
  readonly plugins: readonly PluginInfo[];
  readonly type: string;
  readonly label: string;
}

function Classes({ plugins, type, label }: ClassesProps) {
  const found = plugins.filter((plugin) => plugin.type === type).map((plugin) => plugin.class);
  return (
    <optgroup label={label}>
      {[...new Set(found)].map((className) => (
        <option key={className} value={className}>
          {shortClass(className)}
        </option>
      ))}
    </optgroup>
  );
}

function Topics({ document: { entries, change } }: { readonly document: EditedDocument }) {
  const choose = (topics: readonly string[]): void => {
    const isNone = topics.length === 0;
    change(isNone ? withoutKey(entries, 'topics') : withValue(entries, 'topics', topics.join(','), ORDER));
  };
  return <TopicPicker chosen={topicsIn(entries)} onChange={choose} />;
}

function StateField({ state, onChange }: { readonly state: State; readonly onChange: (state: State) => void }) {
  return (
    <SelectField
      label={texts.initialState}
      value={state}
      options={STATES}
      text={(each) => texts.initialStates[each]}
      onChange={onChange}
    />
  );
}
