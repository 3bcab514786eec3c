// The libraries of the page, from their scripts.

export const { render } = preact;
export const { useEffect, useMemo, useRef, useState } = preactHooks;
export const html = htm.bind(preact.h);
