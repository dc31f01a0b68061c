import { useEffect, useState } from 'preact/hooks';
import type { ComponentType } from 'preact';
import { texts } from '../texts/frame.ts';

/** Returns a component that loads the code of a view when the view is opened for the first time. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function Lazy(props: P) {
    const [, setLoaded] = useState(loaded !== undefined);
    const [problem, setProblem] = useState('');
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then(
        (view) => {
          loaded = view;
          setLoaded(true);
        },
        () => {
          setProblem(texts.notLoaded);
        },
      );
    }, []);
    if (loaded === undefined) return <p class="empty">{problem === '' ? texts.loading : problem}</p>;
    const View = loaded;
    return <View {...props} />;
  };
}
