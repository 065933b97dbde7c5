#!/bin/sh
# Makes an environment for each framework in the folder $1 and runs its integration's test there: those named behind it, or all.
# A framework that cannot be installed, and a test that fails or is skipped, is named at the end, and fails the run.
set -u
cd "$(dirname "$0")/../.."
folder=$1
shift
failed=""

# The first interpreter that is at least of version $1; pyenv keeps those that it was not told to use to itself.
python_of() {
    for each in "${PYTHON:-python3}" python3.12 python3.13 python3.14 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9]*/bin/python3; do
        "$each" -c "import sys; sys.exit(sys.version_info < tuple(map(int, '$1'.split('.'))))" 2>/dev/null && echo "$each" && return
    done
    echo "needs Python $1" >&2
}

while read -r name oldest packages; do
    case "$name" in "" | "#"*) continue ;; esac
    case " $* " in "  " | *" $name "*) ;; *) continue ;; esac
    echo "== $name"
    home="$folder/$name"
    strictly="tests/integrations/test_strictly.py::test_five_windows_of_work[$name]"
    grep -q "^    \"$name\":" tests/integrations/test_strictly.py || strictly=""
    # shellcheck disable=SC2086
    if { [ -x "$home/bin/python" ] || "$(python_of "$oldest")" -m venv "$home"; } &&
        "$home/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager \
        $packages pytest hypothesis ./packages/foldline &&
        "$home/bin/python" -m pytest -p no:cacheprovider -o filterwarnings=default -rs \
            "tests/integrations/test_$name.py" ${strictly:+"$strictly"} >"$home/log" 2>&1 && ! grep -q "SKIPPED.*make integrations" "$home/log"; then
        grep -a " passed" "$home/log" | tail -1 # behind it a process may still have warned of something
    else
        [ ! -f "$home/log" ] || tail -40 "$home/log"
        failed="$failed $name"
    fi
done <tests/integrations/frameworks.txt
[ -z "$failed" ] || {
    echo "failed:$failed"
    exit 1
}
