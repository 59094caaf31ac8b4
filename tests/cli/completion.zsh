# SPDX-License-Identifier: Apache-2.0
# completion.zsh SCRIPT LINE FILE: types LINE and a tab in a zsh with the completion of SCRIPT, in a terminal of its own,
# and writes the last word of the line then to FILE. zsh finds a script that is named _quoit in its path of functions,
# and sources one of another name.
zmodload zsh/zpty
zpty shell zsh -f
# Each word of a command line can be quoted in the shell that runs it.
zpty -w shell "PROMPT=; [[ ${(q)1:t} != _quoit ]] || fpath=(${(q)1:h} \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w shell "[[ ${(q)1:t} == _quoit ]] || source ${(q)1}"
zpty -w shell "report () { print -r -- \${\${(z)BUFFER}[-1]} >${(q)3} }; zle -N report; bindkey '^T' report"
zpty -w shell "echo ready"
while zpty -r shell line && [[ $line != ready* ]]; do :; done
zpty -w -n shell "$2"$'\t'
sleep 0.2
zpty -w -n shell $'\x14'
for ((i = 0; i < 50; i++)); do
  [[ -s $3 ]] && break
  sleep 0.1
done
zpty -d shell
