import { useState } from 'preact/hooks';
import { inPath, request } from '../common/api.ts';
import type { ConfigKeyInfo, PluginInfo } from '../common/answers.ts';
import { Broken } from '../common/broken.tsx';
import { Documentation } from '../common/documentation.tsx';
import { shortClass } from '../common/format.ts';
import { usePolled } from '../common/polled.ts';
import { Problem } from '../common/problem.tsx';
import { TitledTable } from '../common/titled-table.tsx';
import { texts } from '../texts/cluster.ts';
import { matchingOptions, matchingPlugins } from './plugin-search.ts';

/** The plugins of this worker, and the options of one of them. */
export function Plugins() {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<PluginInfo | undefined>();
  const { value, error } = usePolled('plugins', () =>
    request<readonly PluginInfo[]>('GET', '/connector-plugins?connectorsOnly=false'),
  );
  if (value === undefined) {
    return error === undefined ? <p class="empty">{texts.loading}</p> : <Problem text={error.message} />;
  }
  const found = matchingPlugins(value, text);
  return (
    <>
      <Search label={texts.search} text={text} change={setText} found={texts.ofPlugins(found.length, value.length)} />
      {found.length === 0 ? <p class="empty">{texts.noPlugin}</p> : null}
      <div class="plugins">
        <TitledTable label={texts.plugins} titles={[texts.plugin, texts.kind, texts.version]}>
          {found.map((plugin) => (
            <tr key={`${plugin.class} ${plugin.version ?? ''}`} class={plugin === chosen ? 'chosen' : ''}>
              <th scope="row">
                <button
                  type="button"
                  class="link"
                  aria-pressed={isSame(plugin, chosen)}
                  onClick={() => {
                    setChosen(plugin);
                  }}
                >
                  {shortClass(plugin.class)}
                </button>
                <small class="below">
                  <Broken text={plugin.class} />
                </small>
              </th>
              <td>{plugin.type}</td>
              <td class="nowrap">{plugin.version}</td>
            </tr>
          ))}
        </TitledTable>
        {chosen === undefined ? (
          <p class="empty">{texts.choosePlugin}</p>
        ) : (
          <Options key={`${chosen.class} ${chosen.version ?? ''}`} plugin={chosen} />
        )}
      </div>
    </>
  );
}

function Options({ plugin }: { readonly plugin: PluginInfo }) {
  const [text, setText] = useState('');
  const query = plugin.version === null ? '' : `?version=${inPath(`[${plugin.version}]`)}`;
  const path = `/connector-plugins/${inPath(plugin.class)}/config`;
  const { value, error } = usePolled(path + query, () => request<readonly ConfigKeyInfo[]>('GET', path + query));
  const found = matchingOptions(value ?? [], text);
  const titles = [texts.option, texts.meaning];
  return (
    <section class="options" aria-label={texts.optionsOf(shortClass(plugin.class))}>
      <h2>{texts.optionsOf(shortClass(plugin.class))}</h2>
      <Problem text={error?.message ?? ''} />
      <Search
        label={texts.searchOptions}
        text={text}
        change={setText}
        found={texts.ofPlugins(found.length, value?.length ?? 0)}
      />
      {found.length === 0 && value !== undefined ? <p class="empty">{texts.noOption}</p> : null}
      <TitledTable label={texts.optionsOf(shortClass(plugin.class))} titles={titles}>
        {found.map((option) => (
          <tr key={option.name}>
            <th scope="row">
              <Broken text={option.name} />
            </th>
            <td class="meaning">
              <Documentation text={option.documentation} />
              <small class="below">
                {option.type.toLowerCase()}, {texts.importanceOf(option.importance.toLowerCase())},{' '}
                {option.required ? <em>{texts.required}</em> : <DefaultText text={option.default_value} />}
              </small>
            </td>
          </tr>
        ))}
      </TitledTable>
    </section>
  );
}

function DefaultText({ text }: { readonly text: string | null }) {
  if (text === null) return <>{texts.noDefault}</>;
  return (
    <>
      {texts.default} {text === '' ? <i>{texts.emptyText}</i> : <code>{text}</code>}
    </>
  );
}

interface SearchProps {
  readonly label: string;
  readonly text: string;
  readonly found: string;
  readonly change: (text: string) => void;
}

function Search({ label, text, found, change }: SearchProps) {
  return (
    <div class="filters">
      <label>
        {label}
        <input
          type="search"
          value={text}
          onInput={(event) => {
            change(event.currentTarget.value);
          }}
        />
      </label>
      <span class="quiet" role="status">
        {found}
      </span>
    </div>
  );
}

function isSame(plugin: PluginInfo, other: PluginInfo | undefined): boolean {
  return plugin.class === other?.class && plugin.version === other.version;
}
