# Installs the package $1 on a layer over this machine's files, uses and removes it; in a mount name space of its own.
# Arguments: the package, an empty folder. The last line is "as before" if nothing is left.
set -e
package=$1 over=$2
mount -t tmpfs tmpfs "$over"
mkdir "$over/upper" "$over/work" "$over/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$over/upper,workdir=$over/work" "$over/root"
mount -t proc proc "$over/root/proc"
mount --rbind /dev "$over/root/dev"
cp "$package" "$over/root/tenon.deb"
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive TENON_AOT=off \
  chroot "$over/root" sh -e <<'INSIDE'
files() {
  find /etc /usr /opt /srv /home /var -xdev ! -path '/var/log/*' ! -path '/var/tmp/*' \
    ! -path '/var/cache/*' ! -path '/var/lib/dpkg/*' ! -path '/var/lib/apt/*' ! -name '*-' | sort
}
files >/tmp/before
apt-get install -qq ./tenon.deb

echo "--- self-check"
tenon self-check
echo "--- of a user who may write nowhere else"
su -s /bin/sh nobody -c 'HOME=/tmp/nobody tenon self-check' | tail -n 1
echo "--- manual and completion"
man -w tenon
bash -c '. /usr/share/bash-completion/completions/tenon
  COMP_WORDS=(tenon self) COMP_CWORD=1; _complete_tenon; echo "completed: ${COMPREPLY[*]}"'
echo "--- service"
getent passwd tenon
unit=/usr/lib/systemd/system/tenon.service
if command -v systemd-analyze; then systemd-analyze verify $unit && echo "unit is valid"; fi
install -d -o tenon /var/cache/tenon
mkfifo /tmp/out
setpriv --reuid tenon --regid tenon --clear-groups env HOME=/var/lib/tenon \
  $(sed -n 's/^Environment=//p' $unit) tenon serve --port 0 >/tmp/out &
read -r line </tmp/out
echo "$line"
kill $!
wait $!
echo "--- removed"
apt-get remove -qq tenon
ls /usr/bin/tenon /usr/lib/tenon 2>&1 || test -e /etc/tenon/tenon.conf
apt-get purge -qq tenon
getent passwd tenon && exit 1
files >/tmp/after
diff /tmp/before /tmp/after
test ! -e /var/cache/tenon
echo "as before"
INSIDE
